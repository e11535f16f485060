"""A process is more than its number."""

from netdiag.linux.process import Process


def test_a_number_that_was_given_again_is_another_process() -> None:
    first = Process(pid=7, comm="java", started=100, netns=4026531840)
    again = Process(pid=7, comm="java", started=900, netns=4026531840)
    assert first != again
    assert len({first, again, Process(pid=7, comm="java", started=100, netns=4026531840)}) == 2
    assert first.argv == ()
