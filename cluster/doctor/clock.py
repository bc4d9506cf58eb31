"""The check of clocks against each other."""

from cluster.doctor.finding import CheckResult, ok, problem, warning

# HTTP tells whole seconds, and an answer takes a moment.
TOLERATED_SECONDS = 5

# Leases are held by the clock, and stores refuse requests that are minutes old.
MOST_SECONDS = 60


def check_clock(check: str, theirs: float, ours: float, whose: str) -> CheckResult:
    """Whether two clocks agree.

    Args:
        check: what to call it.
        theirs: seconds since 1970 by the other clock.
        ours: by this machine's, at the same moment.
        whose: whose the other clock is.
    """
    apart = theirs - ours
    if abs(apart) <= TOLERATED_SECONDS:
        return ok(check, f"Agrees within {TOLERATED_SECONDS} s.")
    says = f"The clock of {whose} is {abs(apart):,.0f} s {'ahead' if apart > 0 else 'behind'}: set clocks by NTP."
    return problem(check, says) if abs(apart) > MOST_SECONDS else warning(check, says)
