"""Progress bars that record what they show."""


class RecordedBars:
    """Records the arguments of all calls."""

    def __init__(self):
        self.shown = []

    def begin(self, name, total, done=0):
        self.shown.append((name, total, done))

    def advance(self, bar, done, note):
        self.shown.append((done, note))

    def end(self, bar):
        self.shown.append("end")
