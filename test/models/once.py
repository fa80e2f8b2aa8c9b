"""Equal calls of a `once` tool, in a conversation and in one that its calls began: at most one takes effect, and a call is
denied only for an earlier one that may have run. The guard folds the inbox of the executor, and so learns the ends of calls.

Inbox: round(i) | claim(i) | outcome(i, kind) | over(i). Call 0 and its retry 2 belong to one conversation, call 1 to the other.
over(i): the next record of the conversation after the round of i (a round, the end of its turn, a cancel).
Call: none -> waiting -> ready -> claimed -> done. `off` names a rule to leave out:
  open     an allowed call without a claim holds nothing        unknown  a claim without a result counts as never run
  fold     a restarted guard begins without memory              error    a failed call still holds the values
  fence    a claim counts after the end of its round

Calls of other conversations of a tenant (within: tenant): each reserves the values in the tenant's log, and starts only
after its reservation was read back as granted. Call 1 has two tries, because its tool is idempotent.
Log: reserve(i) | settle(i) | release(i) | expiry(i). `off`:
  readback a call starts before its reservation is read     lapse    an expired reservation frees the values
  tries    the release of one try frees those of another    tenant   each conversation has a log of its own
  again    a try after the expiry of another one counts alone"""
import sys
from collections import namedtuple
from explore import explore

# `held`: by call, open | claimed | done. `effects`: started without a failure. `verdicts`: by call. `crashes`: of guard and executor.
S = namedtuple('S', 'log at held verdicts calls effects crashes')
CALLS = 3
START = S((), 0, (), ('',) * CALLS, ('none',) * CALLS, (), 0)

def put(values, i, value): return values[:i] + (value,) + values[i + 1:]

def read(s, off):
    """The guard applies its next record."""
    kind, i = s.log[s.at][:2]
    held, verdicts = dict(s.held), s.verdicts
    if kind == 'round':
        holds = [one for one, state in held.items() if not (state == 'open' and 'open' in off)]
        verdicts = put(verdicts, i, f'denied for {holds[0]}' if holds else 'allow')
        if not holds: held[i] = 'open'
    elif kind == 'claim' and held.get(i) == 'open': held[i] = 'claimed'
    elif kind == 'outcome' and i in held:
        if s.log[s.at][2] == 'ok' or 'error' in off: held[i] = 'done'
        else: del held[i]
    elif kind == 'over' and (held.get(i) == 'open' or held.get(i) == 'claimed' and 'unknown' in off): del held[i]
    return s._replace(at=s.at + 1, held=tuple(sorted(held.items())), verdicts=verdicts)

def steps(off, crashes):
    def go(s):
        if s.at < len(s.log): yield 'do', f'the guard reads {s.log[s.at]}', read(s, off)
        if s.crashes < crashes: yield 'fault', 'the guard is killed', s._replace(crashes=s.crashes + 1, held=() if 'fold' in off else s.held)
        for i in range(CALLS):
            call = s.calls[i]
            to = lambda phase, *records, **more: s._replace(calls=put(s.calls, i, phase), log=s.log + records, **more)
            if call == 'none' and (i < 2 or ('over', 0) in s.log): yield 'do', f'the round of call {i} arrives', to('waiting', ('round', i))
            if call == 'waiting' and s.verdicts[i] == 'allow': yield 'do', f'call {i} may run', to('ready')
            if call == 'waiting' and s.verdicts[i].startswith('denied'): yield 'do', f'call {i} is denied', to('done', ('over', i))
            if call in ('waiting', 'ready'): yield 'env', f'the time of call {i} is over, it is skipped', to('late' if 'fence' in off else 'done', ('over', i))
            if call in ('ready', 'late'): yield 'do', f'call {i} is claimed and STARTS', to('claimed', ('claim', i))
            if call == 'claimed':
                yield 'do', f'call {i} ends', to('done', ('outcome', i, 'ok'), ('over', i), effects=s.effects + (i,))
                yield 'do', f'call {i} fails', to('done', ('outcome', i, 'error'), ('over', i))
                if s.crashes < crashes: yield 'fault', f'the executor is killed, call {i} may have run', to('done', ('over', i), effects=s.effects + (i,), crashes=s.crashes + 1)
    return go

def check(title, off=(), crashes=2):
    def broken(s):
        if len(s.effects) > 1: return 'two equal calls took effect'
        for i, verdict in enumerate(s.verdicts):
            if verdict == 'denied for 0' and i == 2 and ('outcome', 0, 'error') in s.log: return 'a retry is denied, and the first call failed'
    def settled(s):
        if any(call != 'done' for call in s.calls): return 'stuck'
    return explore(title, START, steps(frozenset(off), crashes), broken, settled)

# `table`: (state, call, tries) of the values, state open | done | unknown | none. `runs`: by try (call, phase). `granted`: by try.
T = namedtuple('T', 'log at table runs granted effects crashes')
TRIES = (0, 1, 1)

def reserved(s, off):
    """The table applies its next record."""
    kind, n = s.log[s.at]
    i = TRIES[n]
    state, holder, tries = s.table
    granted, table = s.granted, s.table
    mine = holder == i
    if kind == 'reserve':
        free = state == 'none' or mine and state != 'done' or 'tenant' in off
        granted = put(granted, n, 'yes' if free else 'no')
        if free: table = ('open', i, tries + 1 if mine and not (state == 'unknown' and 'again' in off) else 1)
    elif state == 'open' and mine:
        if kind == 'settle': table = ('done', i, 0)
        elif kind == 'release': table = ('none', None, 0) if tries == 1 or 'tries' in off else (state, i, tries - 1)
        elif kind == 'expiry': table = ('none', None, 0) if 'lapse' in off else ('unknown', i, tries)
    return s._replace(at=s.at + 1, table=table, granted=granted)

def tenant_steps(off, crashes):
    def go(s):
        if s.at < len(s.log): yield 'do', f'the table reads {s.log[s.at]}', reserved(s, off)
        for n, phase in enumerate(s.runs):
            call = f'try {n} of call {TRIES[n]}'
            to = lambda phase, *records, **more: s._replace(runs=put(s.runs, n, phase), log=s.log + records, **more)
            first = n < 2 or s.runs[1] in ('lost', 'running', 'over')
            if phase == 'none' and first: yield 'do', f'{call} reserves', to('waiting', ('reserve', n))
            if phase == 'none' and n == 2 and s.runs[1] == 'done': yield 'do', f'{call} is not needed', to('done')
            if phase == 'waiting' and (s.granted[n] == 'yes' or 'readback' in off): yield 'do', f'{call} STARTS', to('running')
            if phase == 'waiting' and s.granted[n] == 'no': yield 'do', f'{call} is denied', to('done')
            if phase == 'waiting' and s.granted[n] == '': yield 'env', f'{call} waits no longer and never starts', to('over', ('release', n))
            if phase == 'running':
                yield 'do', f'{call} ends', to('done', ('settle', n), effects=s.effects + (TRIES[n],))
                yield 'do', f'{call} fails', to('over', ('release', n))
            if phase in ('waiting', 'running') and s.crashes < crashes:
                ran = (TRIES[n],) if phase == 'running' else ()
                yield 'fault', f'the executor of {call} is killed', to('lost', effects=s.effects + ran, crashes=s.crashes + 1)
            if phase in ('waiting', 'running', 'lost') and ('expiry', n) not in s.log and ('reserve', n) in s.log[:s.at]:
                yield 'env', f'the reservation of {call} expires', s._replace(log=s.log + (('expiry', n),))
    return go

def check_tenant(title, off=(), crashes=1):
    def broken(s):
        if len(set(s.effects)) > 1: return 'two equal calls took effect'
    def settled(s):
        if any(phase in ('none', 'waiting', 'running') for phase in s.runs): return 'stuck'
        if s.table[0] == 'none' and s.effects: return 'the values are free after an effect'
        if s.table[0] == 'done' and not s.effects: return 'the values are held without an effect'
    start = T((), 0, ('none', None, 0), ('none',) * 3, ('',) * 3, (), 0)
    return explore(title, start, tenant_steps(frozenset(off), crashes), broken, settled)

if __name__ == '__main__':
    part = sys.argv[1] if len(sys.argv) > 1 else 'all'
    if part in ('all', 'holes'):
        check('left out: an allowed call holds the values', off=['open'])
        check('left out: a claim without a result may have run', off=['unknown'])
        check('left out: a restarted guard folds its inbox again', off=['fold'])
        check('left out: a failed call may be tried again', off=['error'])
        check('left out: no claim counts after its round', off=['fence'])
        check_tenant('left out: a call starts only after its reservation was read', off=['readback'])
        check_tenant('left out: an expired reservation holds the values', off=['lapse'])
        check_tenant('left out: the release of a try leaves the others', off=['tries'])
        check_tenant('left out: an expired try counts on', off=['again'])
        check_tenant('left out: the tenant has one log', off=['tenant'])
    if part in ('all', 'fixed'):
        check('two conversations and a retry, 2 crashes')
        check_tenant('two conversations of a tenant and a second try, 2 crashes', crashes=2)
