# netdiag check-listeners without a Python of one's own:
#   docker build --tag netdiag .
#   docker run --rm --volume "$PWD:/project:ro" netdiag check-listeners compose.yml
# The helper of `--via container` (docs/via-container.md), by the version that looks for it:
#   docker build --tag netdiag:0.1.0 .
ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
WORKDIR /src
COPY . .
RUN python -m venv /opt/netdiag
RUN /opt/netdiag/bin/pip install --no-cache-dir --no-compile --constraint constraints.txt '.[live]'
RUN /opt/netdiag/bin/pip uninstall --yes --quiet setuptools pip

FROM python:${PYTHON}-slim
COPY --from=build /opt/netdiag /opt/netdiag
ENV PATH="/opt/netdiag/bin:${PATH}"
USER 65534:65534
WORKDIR /project
ENTRYPOINT ["netdiag"]
CMD ["--help"]
