"""A run to be told, with things in it that a stranger wrote."""

from netdiag.render.playbooks import ConclusionView, PlaybookView, RunView, StepView, SymptomView

EVIL = "<script>alert(1)</script>\x1b[2J‮"

CAUSE = ConclusionView(
    name="client-dials-itself",
    confidence="proven",
    cause="the client dials itself",
    repair="give it the service name",
    rules=("dependent-bootstrap-localhost",),
    evidence=("compose.yml:7: localhost", EVIL),
)
RUN = RunView(
    playbook="bootstrap-refused",
    title="The address refuses",
    end="cause",
    summary="the client dials itself",
    steps=(
        StepView(id="files", title="what files declare", action="lint", state="done", result="1 finding", seconds=0.2),
        StepView(
            id="live",
            title="what runs",
            action="matrix",
            state="failed",
            result="no engine",
            fix="run again with --live",
            notes=(EVIL,),
        ),
        StepView(id="log", title="the log", action="log", state="skipped", result="no use"),
    ),
    reached=(CAUSE,),
    variables=(("host", EVIL),),
)
NOTHING = RunView(
    playbook="x", title="X", end="no cause", summary="netdiag found no cause", steps=RUN.steps[:1], reached=()
)
SYMPTOM = SymptomView(
    playbook="bootstrap-refused",
    title="The address refuses",
    means="Nobody listens.",
    who="Java clients",
    line=f"Connection refused {EVIL}",
    number=3,
    times=2,
    values=(("host", "kafka"),),
)
PLAYBOOK = PlaybookView(
    name="bootstrap-refused",
    title="The address refuses",
    means="Nobody listens.",
    symptoms=(("Java clients", "Connection refused {host}"),),
    steps=(("what files declare", "lint", False), ("what runs", "matrix", True)),
    conclusions=(CAUSE,),
)
