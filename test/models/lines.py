"""Lines: model requests to one provider's account. Gateways fold one log, and each computes the start of its requests.
A start needs no record. The provider refuses a request that comes too early, and names a wait."""
import sys
from collections import namedtuple
from explore import explore

# A request: (phase, the tick of its start). seen: the records that each gateway has read.
S = namedtuple('S', 'log requests seen now wait faults late')
WAIT, END = 2, 9

def plan(log, off=()):
    """The start of each request, from records only. A wait holds requests that start after its record."""
    starts, free, closed, waiting = {}, 0, 0, []
    def advance(until):
        nonlocal free
        while waiting:
            n, since = waiting[0]
            at = max(since, closed, 0 if 'apart' in off else free)
            if at > until: return
            waiting.pop(0)
            starts[n], free = at, at + 1
    for kind, n, time in log:
        advance(time - 1)
        if kind == 'reserve': waiting.append((n, time))
        if kind == 'wait': closed = max(closed, time + WAIT)
    advance(10 ** 9)
    return starts

def steps(off, F):
    def go(s):
        due = False
        for n, (phase, _) in enumerate(s.requests):
            gateway = n % 2
            log = s.log[:s.seen[gateway]]
            if 'shared' in off: log = tuple(one for one in log if one[1] % 2 == gateway)
            def at(phase, tick=0, **more): return s._replace(requests=s.requests[:n] + ((phase, tick),) + s.requests[n + 1:], **more)
            if phase == 'new': yield 'do', f'{n} reserves at {s.now}', at('waiting', log=s.log + (('reserve', n, s.now),))
            if phase == 'waiting' and ('reserve', n) in [one[:2] for one in log]:
                start = plan(log, off)[n]
                if start <= s.now:
                    due = True
                    late = s.late + (start < s.now)
                    if s.wait > s.now and s.seen[gateway] < len(s.log): late += 1 # it has not read the wait yet
                    yield 'do', f'{n} starts at {s.now}', at('started', s.now, late=late)
                if s.faults < F:
                    yield 'fault', f'the gateway of {n} is gone', at('gone', faults=s.faults + 1)
            if phase == 'started' and s.requests[n][1] == s.now and s.wait == 0:
                wait = s.log + (('wait', n, s.now),)
                yield 'env', f'the provider refuses {n} at {s.now}', at('refused', s.now, log=wait, wait=s.now + WAIT)
        for gateway in (0, 1):
            if s.seen[gateway] < len(s.log):
                due = due or 'lag' not in off
                seen = s.seen[:gateway] + (s.seen[gateway] + 1,) + s.seen[gateway + 1:]
                yield 'do', f'gateway {gateway} reads {s.log[s.seen[gateway]]}', s._replace(seen=seen)
        phases = [phase for phase, _ in s.requests]
        if not due and ('new' not in phases or s.now < 2) and s.now < END and ('new' in phases or 'waiting' in phases):
            yield 'do', f'the time is {s.now + 1}', s._replace(now=s.now + 1)
    return go

def check(title, off=(), N=3, F=0):
    def broken(s):
        ticks = [tick for phase, tick in s.requests if phase in ('started', 'refused')]
        most = max((ticks.count(tick) for tick in ticks), default=0)
        if most > 1 + s.late: return f'{most} requests start at one time'
        early = [tick for phase, tick in s.requests if phase == 'started' and s.wait - WAIT < tick < s.wait]
        return f'a request starts within the wait: {early}' if len(early) > s.late else None
    def settled(s):
        open_ = [n for n, (phase, _) in enumerate(s.requests) if phase not in ('started', 'refused', 'gone')]
        return f'stuck: {open_}' if open_ else None
    return explore(title, S((), (('new', 0),) * N, (0, 0), 0, 0, 0, 0), steps(frozenset(off), F), broken, settled)

if __name__ == '__main__':
    part = sys.argv[1] if len(sys.argv) > 1 else 'all'
    if part in ('all', 'holes'):
        check('left out: starts are apart (each waits as the provider says)', off=['apart'])
        check("left out: the other gateway's records count", off=['shared'])
    if part in ('all', 'fixed'):
        check('three requests of two gateways', N=3)
        check('three requests, two of them without their gateway', N=3, F=2)
        check('two requests, the log is read late', off=['lag'], N=2)
