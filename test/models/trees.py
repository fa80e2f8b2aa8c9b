"""Children of a tree: reserve and release are records of one partition. A child starts only after its
owner has read its reservation as granted. The next owner of a call reserves again, under the same name."""
import sys
from collections import namedtuple
from explore import explore

# A call: (phase, owner). runs: children whose turn is open. started: calls whose child ever began.
S = namedtuple('S', 'log calls runs started kills')
AT_ONCE, ALL = 1, 2

def fold(log, off):
    """Grants by position. A repeated reservation of an open child is granted, and counts nothing. `leave`: a try that
    never started gives its place back, unless a further try holds the place too."""
    granted, held, ended = [], {}, 0
    for kind, name in log:
        if kind == 'reserve':
            if name in held and 'same' not in off: held[name] += 1; granted.append(True); continue
            may = len(held) < AT_ONCE and ended + len(held) < ALL
            granted.append(may)
            if may: held[name] = 1
        else:
            granted.append(None)
            if name in held:
                held[name] -= 1
                if kind == 'release' or held[name] == 0: del held[name]; ended += kind == 'release'
    return granted, held, ended

def steps(off, N, K):
    def go(s):
        for n, (phase, tries, at) in enumerate(s.calls):
            def to(phase, tries=tries, at=at, **more): return s._replace(calls=s.calls[:n] + ((phase, tries, at),) + s.calls[n + 1:], **more)
            name = (n, tries) if 'name' in off else n
            if phase == 'claimed':
                if 'position' in off:
                    _, held, ended = fold(s.log, off)
                    may = len(held) < AT_ONCE and ended + len(held) < ALL
                    yield 'do', f'{n} looks: {may}', to('looked' if may else 'denied')
                else: yield 'do', f'{n} reserves', to('reserved', at=len(s.log), log=s.log + (('reserve', name),))
            if phase == 'looked': yield 'do', f'{n} reserves', to('granted', log=s.log + (('reserve', name),))
            if phase == 'reserved':
                decisions = fold(s.log, off)[0]
                may = decisions[at] if 'own' not in off else any(granted for granted, (_, one) in zip(decisions, s.log) if one == name)
                yield 'do', f'{n} reads: {may}', to('granted' if may else 'denied')
            if phase == 'granted' and s.kills < K:
                yield 'fault', f'{n} is too late: its owner gives place and call back', to('claimed', tries=tries + 1, kills=s.kills + 1, log=s.log + (('leave', name),))
            if phase == 'granted': yield 'do', f'{n} starts', to('running', runs=s.runs | {n}, started=s.started | {n})
            # The child ends first; its call reports the end, then gives the place back.
            if phase == 'running' and n in s.runs: yield 'do', f'the child of {n} ends', s._replace(runs=s.runs - {n})
            if phase == 'running' and 'early' in off:
                yield 'do', f'{n} gives its place back', to('reported', log=s.log + (('release', name),))
            if phase == 'running' and n not in s.runs: yield 'do', f'{n} reports', to('reported')
            if phase == 'reported': yield 'do', f'{n} gives its place back', to('done', log=s.log + (('release', name),))
            # A killed owner: the child's turn goes on in the log, and the next owner claims the call.
            if phase in ('reserved', 'granted', 'running') and s.kills < K:
                yield 'fault', f'the owner of {n} is killed', to('claimed', tries=tries + 1, kills=s.kills + 1)
            if phase == 'reported' and s.kills < K:
                yield 'fault', f'the owner of {n} is killed after its report', to('lost', kills=s.kills + 1)
            if phase == 'lost': yield 'do', f'the place of {n} lapses', to('done', log=s.log + (('release', name),))
    return go

def check(title, off=(), N=3, K=0):
    off = frozenset(off)
    def broken(s):
        if len(s.runs) > AT_ONCE: return f'{len(s.runs)} children run at once, at most {AT_ONCE} may'
        if len(s.started) > ALL: return f'{len(s.started)} children began, at most {ALL} may'
        again = [n for n, (phase, tries, _) in enumerate(s.calls) if phase == 'denied' and n in s.started]
        if again: return f'a further try of {again} is denied although its child began'
    def settled(s):
        open_ = [n for n, (phase, _, _) in enumerate(s.calls) if phase not in ('done', 'denied')]
        if open_: return f'stuck: {open_}'
        if fold(s.log, off)[1]: return f'places are held: {fold(s.log, off)[1]}'
    return explore(title, S((), (('claimed', 1, -1),) * N, frozenset(), frozenset(), 0), steps(off, N, K), broken, settled)

if __name__ == '__main__':
    part = sys.argv[1] if len(sys.argv) > 1 else 'all'
    if part in ('all', 'holes'):
        check('left out: the position decides (look, then count)', off=['position'])
        check('left out: a further try has the name of the call', off=['name'], N=2, K=1)
        check('left out: a repeated reservation is granted', off=['same'], N=2, K=1)
        check('left out: a try has the decision on its own record', off=['own'], N=3, K=1)
        check('left out: the place comes back after the report', off=['early'], N=2)
    if part in ('all', 'fixed'):
        check('three calls', N=3)
        check('three calls, two owners killed', N=3, K=2)
        check('four calls, an owner killed', N=4, K=1)
