from plurule.methods import ExplanationsMethods as ExplanationsMethods
from plurule.methods import LabelGraphMethods as LabelGraphMethods
from plurule.methods import RuleListMethods as RuleListMethods
