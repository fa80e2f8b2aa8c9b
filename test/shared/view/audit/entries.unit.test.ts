// Evidence as entries: given these records of `audit`, then these decisions and changes.

import { describe, expect, it } from '@jest/globals'
import { type Evidence, withLink, withoutContent } from '../../../../shared/contract/audit/link.ts'
import type {
  AuditChanged,
  AuditDecided,
  AuditFollowed,
} from '../../../../shared/contract/messages.ts'
import { type AuditWhere, auditFold } from '../../../../shared/view/audit/entries.ts'

const place = { conversation: 'acme:c', turn: 7, round: 2, ordinal: 0 }

const decided: AuditDecided = {
  type: 'audit-decided',
  ...place,
  agent: 'releaser',
  name: 'deploy',
  id: 'k7f3-9qxm-2b4d',
  hash: 'ab',
  program: null,
  input: 0,
  source: null,
  askedAt: 1_000,
  at: 5_000,
  outcome: 'allow',
  by: 'key:ann',
  identity: 'authenticated',
  arguments: '{"env":"prod"}',
  rule: 'production',
  question: '',
  values: '',
  reason: '',
  link: null,
}
const followed: AuditFollowed = {
  type: 'audit-followed',
  ...place,
  name: 'deploy',
  status: 'error',
  durationMs: 40,
  at: 6_000,
  redact: [],
  reason: 'exit code 1',
  link: null,
}
const stopped: AuditChanged = {
  type: 'audit-changed',
  setting: 'stop:tenant:acme',
  isRemoved: false,
  at: 2_000,
  by: 'bob',
  identity: 'claimed',
  before: '',
  after: '{"mode":"now"}',
  link: null,
}

/** The entries of records in one partition. */
function given(records: Evidence[], where: AuditWhere = {}, max = 100) {
  const fold = auditFold(where, max)
  for (const [offset, message] of records.entries()) fold.apply({ partition: 0, offset }, message)
  return { entries: fold.entries(), left: fold.left, names: fold.names }
}

describe('the evidence of a decision', () => {
  it('has the author, the whole question and the end of the call', () => {
    const { type: _, arguments: sent, input: __, outcome, link: ___, ...rest } = decided
    expect(given([decided, followed]).entries).toEqual([
      {
        ...rest,
        kind: 'approval',
        action: outcome,
        rawArguments: sent,
        tenant: 'acme',
        withheld: false,
        place: { partition: 0, offset: 0 },
        followed: { status: 'error', reason: 'exit code 1', durationMs: 40, at: 6_000 },
      },
    ])
  })

  it('is listed without an end while its round runs', () => {
    expect(given([decided]).entries).toMatchObject([{ followed: null }])
    const other = { ...followed, ordinal: 1 }
    expect(given([decided, other]).entries).toMatchObject([{ followed: null }])
  })

  it('is of the kind question for the answer to a running tool, next to the approval of its call', () => {
    const answered = { ...decided, input: 1, at: 5_500, question: '{}', values: '{"a":1}' }
    expect(given([decided, answered, followed]).entries).toMatchObject([
      { kind: 'approval', followed: { status: 'error' } },
      { kind: 'question', values: '{"a":1}', followed: { status: 'error' } },
    ])
  })

  it('counts once if its record came twice, also with other links and erased content', () => {
    const place = { writer: 'w', previous: '', seen: '' }
    const copies = [1, 2].map((sequence) => withLink(decided, { ...place, sequence }))
    const records = [...copies, withoutContent(copies[1] as Evidence)]
    expect(given(records).entries).toHaveLength(1)
    expect(given([...records, { ...decided, outcome: 'deny' }]).entries).toHaveLength(2)
  })

  it('stays when its content was erased', () => {
    expect(given([withoutContent(decided)]).entries).toMatchObject([
      { withheld: true, by: 'key:ann', action: 'allow', hash: 'ab' },
    ])
  })

  it('is not erased as long as one field of its content is left', () => {
    const partly = [
      { ...decided, arguments: null },
      { ...stopped, before: null },
    ]
    expect(given(partly).entries.map(({ withheld }) => withheld)).toEqual([false, false])
  })

  it('has no content after its conversation was deleted, unlike later decisions', () => {
    const deletion = { ...stopped, setting: 'conversation:acme:c', isRemoved: true, at: 7_000 }
    const later = { ...decided, turn: 9, at: 8_000 }
    const { entries } = given([decided, followed, deletion, later], { tool: 'deploy' })
    expect(entries).toMatchObject([
      { at: 5_000, rawArguments: null, withheld: true, followed: { reason: null } },
      { at: 8_000, rawArguments: decided.arguments, withheld: false },
    ])
  })
})

describe('the entries', () => {
  const removal = { ...stopped, isRemoved: true, at: 3_000, before: '{}', after: '' }
  const budget = { ...stopped, setting: 'budget:beta/tenant/day/usd', at: 4_000 }
  const all = [decided, stopped, removal, budget, followed]

  it('are in the order of their times, also across topics and partitions', () => {
    expect(given(all).entries.map(({ kind, action }) => `${kind} ${action}`)).toEqual([
      'stop set',
      'stop removed',
      'budget set',
      'approval allow',
    ])
  })

  it.each([
    [{ since: 3_000 }, ['stop', 'budget', 'approval']],
    [{ until: 3_000 }, ['stop']],
    [{ by: 'bob' }, ['stop', 'stop', 'budget']],
    [{ tool: 'deploy' }, ['approval']],
    [{ kind: 'budget' }, ['budget']],
    [{ tenant: 'acme' }, ['stop', 'stop', 'approval']],
    [{ tenant: 'beta' }, ['budget']],
    [{ tenant: 'other' }, []],
  ])('are filtered by %o', (where, kinds) => {
    expect(given(all, where).entries.map(({ kind }) => kind)).toEqual(kinds)
  })

  it('of a tenant leave out changes that concern other tenants too', () => {
    const wide = ['stop:all', 'stop:agent:bank', 'policy:*', 'budget:*/tenant/day/usd', 'prices']
    const records = wide.map((setting) => ({ ...stopped, setting }))
    expect(given(records).entries).toHaveLength(wide.length)
    expect(given(records, { tenant: 'default' }).entries).toEqual([])
  })

  it('are the newest ones if there are too many, and the others are counted', () => {
    const many = Array.from({ length: 25 }, (_, n) => ({ ...stopped, at: n }))
    const { entries, left } = given(many, {}, 10)
    expect(entries.map(({ at }) => at)).toEqual([15, 16, 17, 18, 19, 20, 21, 22, 23, 24])
    expect(left).toBe(15)
  })

  it('show the deletion of a conversation to its tenant', () => {
    const deletion = { ...stopped, setting: 'conversation:acme:c', isRemoved: true }
    const where = { kind: 'deletion', tenant: 'acme' }
    expect(given([deletion], where).entries).toMatchObject([{ kind: 'deletion', tenant: 'acme' }])
  })

  it('keep the end of a call whose older entry is left out', () => {
    const answered = { ...decided, input: 1, at: 9_000 }
    const { entries } = given([decided, answered, followed], {}, 1)
    expect(entries).toMatchObject([{ kind: 'question', followed: { status: 'error' } }])
  })

  it('keep no rules of turns that no entry is of, beyond a bound', () => {
    const fold = auditFold({}, 2)
    const turns = Array.from({ length: 50 }, (_, turn) => turn)
    fold.apply({ partition: 0, offset: 0 }, { ...decided, turn: 0 })
    for (const turn of turns) fold.apply({ partition: 0, offset: turn }, { ...followed, turn })
    const known = turns.filter((turn) => fold.rulesOf({ ...place, turn }) !== undefined)
    expect(known).toContain(0)
    expect(known).toContain(49)
    expect(known.length).toBeLessThan(10)
  })

  it('name the known people and tools, also those that a filter leaves out', () => {
    const { names } = given(all, { by: 'zoe' })
    expect([...names.by].sort()).toEqual(['bob', 'key:ann'])
    expect([...names.tool]).toEqual(['deploy'])
  })
})
