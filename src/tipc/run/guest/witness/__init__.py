"""The witness: stands before the script in a step's own interpreter and watches paddle's doors.

One file a door. What is seen goes to the step's keeper (``guest/hearing.py``) and arrives at ``tipc`` as
``tipc.run.record.facts``. The script computes, prints and returns what it would without: nothing is drawn
from a random generator, no state is left changed, no frame of ours is in a traceback (from Python 3.11 on).
A door that breaks leaves its fact out and says why. Standard library and what paddle brings, numpy included;
nothing newer than Python 3.8 and paddle 2.6.

Not seen: processes that the script starts by itself, other than through ``paddle.distributed.launch``.
"""
