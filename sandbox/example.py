"""A small workspace to start with: two channels, two people, and another app's bot that answers questions."""

from sandbox.people import Person
from sandbox.workspace import Workspace


def furnish(workspace: Workspace) -> Workspace:
    """The workspace with `#help` (the app is in it), the private `#leads`, and three threads to look at."""
    ann, ben = workspace.add_user("ann", "Ann Lee"), workspace.add_user("ben", "Ben Roy")
    helper = workspace.add_bot("helper")
    workspace.add_channel("help", [ann, ben, helper, workspace.bot])
    workspace.add_channel("leads", [ann, ben, helper], is_private=True)
    _thread(workspace, "ann", "Why is the sky blue?", "helper", _GOOD)
    _thread(workspace, "ben", "How do I undo the last commit in git but keep my changes?", "helper", _BAD)
    _thread(workspace, "ann", "Where do I report a broken projector?", "ben", _HUMAN)
    return workspace


def _thread(workspace: Workspace, asker: str, question: str, answerer: str, answer: str) -> None:
    parent = Person(workspace, asker).post("help", question)
    Person(workspace, answerer).post("help", answer, thread_ts=parent.ts)


_GOOD = (
    "Air scatters short wavelengths far more than long ones (Rayleigh scattering, about 1/λ⁴). Blue light therefore "
    "reaches your eyes from all over the sky, while red goes mostly straight on. Violet is scattered even more, but "
    "there is less of it in sunlight and our eyes see it poorly."
)
_BAD = "Just delete the folder and clone the repository again, that always works for me."
_HUMAN = "Facilities, extension 2211. Tell them the room and the number on the sticker, they come the same day."
