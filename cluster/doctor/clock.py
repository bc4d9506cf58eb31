"""Check that two clocks agree."""

from cluster.doctor.check_result import CheckResult, ok, problem, warning

# HTTP dates are rounded to seconds, and a response takes some time.
TOLERATED_SECONDS = 5

# With a larger difference, jobs misjudge the age of a lease's heartbeat, and stores refuse requests as too old.
MAX_SECONDS = 60


def check_clock(check: str, theirs: float, ours: float, owner: str) -> CheckResult:
    """Check that the clock of another machine agrees with the clock of this machine.

    Args:
        check: name of the check.
        theirs: time of the other clock, in seconds since 1970.
        ours: time of this machine's clock at the same moment, in seconds since 1970.
        owner: owner of the other clock, such as "the cluster".
    """
    apart = theirs - ours
    if abs(apart) <= TOLERATED_SECONDS:
        return ok(check, f"Agrees within {TOLERATED_SECONDS} s.")
    message = (
        f"The clock of {owner} is {abs(apart):,.0f} s {'ahead' if apart > 0 else 'behind'}: synchronize clocks by NTP."
    )
    return problem(check, message) if abs(apart) > MAX_SECONDS else warning(check, message)
