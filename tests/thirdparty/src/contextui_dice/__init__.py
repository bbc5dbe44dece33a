"""Dice, for those who cannot decide."""

import random

from contextui import ActionError, Body, Lod, Window, action


class DiceWindow(Window):
    """Throws dice."""

    name = "dice"

    class State(Window.State):
        throws: list[list[int]] = []
        seed: int = 0

    state: State

    def opened(self, seed: int = 0) -> None:
        self.state.seed = seed

    def content(self, lod: Lod) -> Body:
        throws = self.state.throws
        if lod is Lod.GIST or not throws:
            return f"{len(throws)} throws"
        shown = throws if lod is Lod.FULL else throws[-1:]
        return "\n".join(f"{' + '.join(map(str, dice))} = {sum(dice)}" for dice in shown)

    @action("Throw some dice")
    def throw(self, dice: int = 1) -> str:
        if not 1 <= dice <= 100:
            raise ActionError("Throw 1 to 100 dice.")
        chance = random.Random(f"{self.state.seed} {len(self.state.throws)}")
        self.state.throws.append([chance.randint(1, 6) for _ in range(dice)])
        return f"Threw {sum(self.state.throws[-1])}."
