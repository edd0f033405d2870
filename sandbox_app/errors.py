"""The faults of the sandbox. All are ours, never the policy's: an episode that meets one has no reward.

What a policy does wrong is no exception but an outcome (`trajectories.CellOutcome`, `EpisodeOutcome` stopped).
`cause` is the name an episode's outcome carries.
"""

from __future__ import annotations


class SandboxFault(Exception):
    """A fault of the studio or its machine. `cause` names it in `Outcome.cause`."""

    cause = "sandbox_fault"


class NoIsolation(SandboxFault):
    """This machine can't isolate a kernel as asked; the text says what is missing and what to do."""

    cause = "no_isolation"


class StartFailed(SandboxFault):
    """A kernel did not start within its time."""

    cause = "kernel_start_failed"


class SessionLost(SandboxFault):
    """The host, or the kernel by no doing of its policy, is gone."""

    cause = "session_lost"


class KernelKilledFromOutside(SessionLost):
    """The kernel died by a signal that nothing inside its episode sent."""

    cause = "kernel_killed_from_outside"


class ToolFault(SandboxFault):
    """A tool raised an exception that it does not declare."""

    cause = "tool_exception"


class PolicyFault(SandboxFault):
    """A policy could not act for a reason that is ours (a checkpoint that does not load, …)."""

    cause = "policy_fault"


class VerifierProcessFault(SandboxFault):
    """A verifier raised, never ended, or gave no verdict."""

    cause = "verifier_raised"


class VerifierTimeout(VerifierProcessFault):
    cause = "verifier_timeout"


FAULTS: dict[str, type[SandboxFault]] = {
    kind.cause: kind
    for kind in (
        SandboxFault, NoIsolation, StartFailed, SessionLost, KernelKilledFromOutside, ToolFault, PolicyFault,
        VerifierProcessFault, VerifierTimeout,
    )
}


def fault(cause: str, text: str) -> SandboxFault:
    """The fault of that cause, as one process tells it to another; an unknown cause stays a `SandboxFault`."""
    return FAULTS.get(cause, SandboxFault)(text)
