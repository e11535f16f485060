# netdiag check-listeners without a Python of one's own:
#   docker build --tag netdiag .
#   docker run --rm --volume "$PWD:/project:ro" netdiag check-listeners compose.yml
# The helper of `--via container` (docs/via-container.md), by the version that looks for it:
#   docker build --tag netdiag:0.1.0 .
# .ci/base-image write adds the digest, without which nothing is released.
ARG BASE=python:3.13-slim

FROM ${BASE} AS build
WORKDIR /src
COPY . .
RUN python -m venv /opt/build
RUN /opt/build/bin/pip install --no-cache-dir --require-hashes --requirement .ci/locked/build.txt
RUN /opt/build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /opt/wheel .
RUN python -m venv /opt/netdiag
RUN /opt/netdiag/bin/pip install --no-cache-dir --no-compile --require-hashes --requirement .ci/locked/live.txt
RUN /opt/netdiag/bin/pip install --no-cache-dir --no-compile --no-deps /opt/wheel/*.whl
RUN /opt/netdiag/bin/pip uninstall --yes --quiet setuptools pip

FROM ${BASE}
COPY --from=build /opt/netdiag /opt/netdiag
ENV PATH="/opt/netdiag/bin:${PATH}"
USER 65534:65534
WORKDIR /project
ENTRYPOINT ["netdiag"]
CMD ["--help"]
