"""A guard that an operator changes, and a round on its way: the executor reads the newest registration only.
An honest round names the registration of its stamp. A forged one names nothing, or a version that was in force long before."""
import sys
from collections import namedtuple
from explore import explore

# A registration: (append time, version, firstAt, replaced); a removal has no version. `replaced`: (since, version), oldest first.
# A round: (named version, stamp time or None if it is forged, clearing time or None).
S = namedtuple('S', 'now log round end')
STAMPED, END = 2, 6

def newest(log): return log[-1] if log and log[-1][1] else None

def registered(log, version, now):
    last = newest(log)
    if not last: return (now, version, None, ())
    all_ = last[3] + ((last[0], last[1]),)
    ends = [since for since, _ in all_[1:]] + [now]
    kept = tuple(one for one, end in zip(all_, ends) if end > now - 2 * STAMPED)
    return (now, version, last[0] if last[2] is None else last[2], kept)

def denied(last, named, cleared, off):
    if not last: return False
    time, version, first, replaced = last
    begin = cleared - STAMPED
    if (time if first is None or 'first' in off else first) > begin: return False
    ends = [since for since, _ in replaced[1:]] + [time]
    earlier = [] if 'replaced' in off else [one for (_, one), end in zip(replaced, ends) if end > begin or 'window' in off]
    return named not in earlier + [version]

def steps(off, changes, wait):
    def go(s):
        if s.end: return
        if s.now < END: yield 'env', 'time passes', s._replace(now=s.now + 1)
        if sum(1 for one in s.log if one[1]) < changes:
            n = len(s.log) + 1
            yield 'env', f'{s.now}: the operator registers version {n}', s._replace(log=s.log + (registered(s.log, n, s.now),))
        if newest(s.log):
            yield 'env', f'{s.now}: the operator removes the guard', s._replace(log=s.log + ((s.now, None, None, ()),))
        if not s.round:
            now = newest(s.log) and newest(s.log)[1]
            yield 'env', f'{s.now}: a round is stamped with {now}', s._replace(round=(now, s.now, None))
            for named in [None] + [one[1] for one in s.log if one[1]]:
                if named not in valid(s.log, s.now - STAMPED, s.now):
                    yield 'fault', f'{s.now}: a forged round names {named}', s._replace(round=(named, None, s.now))
        elif s.round[2] is None and s.now - s.round[1] < STAMPED:
            yield 'env', f'{s.now}: the round is cleared', s._replace(round=s.round[:2] + (s.now,))
        elif s.round[2] is not None and s.now - s.round[2] <= wait:
            end = 'denied' if denied(newest(s.log), s.round[0], s.round[2], off) else 'started'
            yield 'do', f'{s.now}: the call is {end}', s._replace(end=end)
    return go

def valid(log, begin, end):
    """The versions in force at a time after begin; None: there was no guard."""
    states = ((-END, None, None, ()),) + log
    ends = [one[0] for one in states[1:]] + [END + 1]
    return {version for (since, version, _, _), until in zip(states, ends) if until > begin and since <= end}

def check(title, off=(), changes=3, wait=STAMPED):
    def broken(s):
        if not s.end: return None
        named, stamped, cleared = s.round
        if stamped is not None and s.end == 'denied': return 'an honest round is denied'
        if stamped is None and s.end == 'started' and named not in valid(s.log, cleared - STAMPED, s.now) and None not in valid(s.log, cleared - STAMPED, s.now):
            return 'a call started without its guard'
    return explore(title, S(0, (), None, None), steps(frozenset(off), changes, wait), broken, lambda s: None)

if __name__ == '__main__':
    part = sys.argv[1] if len(sys.argv) > 1 else 'all'
    if part in ('all', 'holes'):
        check('left out: firstAt', off=['first'])
        check('left out: the replaced registrations', off=['replaced'])
        check('left out: a replaced registration counts only in its time', off=['window'])
        check('residue: a call that waits while its guard changes twice', wait=END)
    if part in ('all', 'fixed'):
        check('a guard is changed and removed, the call waits')
