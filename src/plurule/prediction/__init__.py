"""What a rule list says about instances: decisions, probabilities, and all of that rule by rule."""

from plurule.prediction.decide import Decisions, Step, decide, nothing_decided, replay

__all__ = ["Decisions", "Step", "decide", "nothing_decided", "replay"]
