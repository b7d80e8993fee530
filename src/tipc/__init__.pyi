from tipc.api import certify as certify
from tipc.api import lint as lint
from tipc.api import load_run as load_run
from tipc.api import plan as plan
from tipc.api import run as run
from tipc.certify.verdict import Finding as Finding
from tipc.certify.verdict import Verdict as Verdict
from tipc.errors import TipcError as TipcError
from tipc.errors import UsageError as UsageError
from tipc.plan.model import Plan as Plan
from tipc.plan.model import Step as Step
from tipc.plan.request import PlanOptions as PlanOptions
from tipc.run.record.results import Run as Run
from tipc.run.record.results import StepResult as StepResult

__version__: str
