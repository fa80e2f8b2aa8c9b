import { describe, expect, it } from '@jest/globals'
import { auditFormats } from '../../../../apps/history/audit/formats.ts'
import type { AuditedCall, AuditedChange } from '../../../../shared/view/audit/entries.ts'

const common = {
  place: { partition: 1, offset: 7 },
  at: 1_700_000_000_000,
  by: 'key:ann',
  identity: 'authenticated',
  tenant: 'acme',
  withheld: false,
} as const

const decision: AuditedCall = {
  ...common,
  conversation: 'acme:c',
  turn: 7,
  round: 1,
  ordinal: 0,
  kind: 'approval',
  action: 'allow',
  agent: 'releaser',
  name: 'deploy',
  id: 'k7f3-9qxm-2b4d',
  hash: 'ab',
  program: null,
  source: null,
  askedAt: 0,
  rawArguments: '{"a":"x=y|z\\n"}\nact=deny',
  rule: 'production',
  question: '',
  values: '',
  reason: '',
  followed: { status: 'ok', reason: '', durationMs: 3, at: 0 },
}

const change: AuditedChange = {
  ...common,
  kind: 'stop',
  action: 'set',
  setting: 'stop:tool:a|b',
  before: '',
  after: '{}',
  tenant: null,
}

describe('an entry as OCSF', () => {
  it('is an event of Entity Management with its author, time and tenant', () => {
    expect(JSON.parse(auditFormats.ocsf(decision))).toMatchObject({
      category_uid: 3,
      class_uid: 3004,
      activity_id: 99,
      activity_name: 'allow',
      type_uid: 300_499,
      time: common.at,
      actor: { user: { name: 'key:ann' } },
      metadata: { version: '1.5.0', uid: '1/7', tenant_uid: 'acme' },
      entity: { name: 'deploy', uid: 'k7f3-9qxm-2b4d', type: 'Tool call', type_id: 99 },
      unmapped: { identity: 'authenticated', hash: 'ab', followed: { status: 'ok' } },
    })
  })

  it.each([
    [change, 300_401],
    [{ ...change, before: '{}' }, 300_403],
    [{ ...change, action: 'removed' as const }, 300_404],
  ])('is created, updated or deleted for a setting (%#)', (entry, type) => {
    expect(JSON.parse(auditFormats.ocsf(entry)).type_uid).toBe(type)
  })
})

describe('an entry as CEF', () => {
  it('is one line, and no value can end a field or add one', () => {
    const line = auditFormats.cef(decision)
    expect(line).toMatch(
      /^CEF:0\|Weir\|Weir\|[^|]+\|approval\.allow\|approval allow: deploy\|3\|rt=/,
    )
    expect(line).not.toContain('\n')
    expect(line.match(/\bact=/g)).toHaveLength(1)
    expect(line).toContain('msg={"a":"x\\=y|z\\\\n"}\\nact\\=deny')
    expect(line).toContain(' suser=key:ann act=allow cs1Label=identity cs1=authenticated ')
    expect(line).toContain(' outcome=ok ')
  })

  it('escapes the signs of its header, and leaves out empty fields', () => {
    const line = auditFormats.cef(change)
    expect(line).toContain('|stop set: stop:tool:a\\|b|3|')
    expect(line).toContain(' fname=stop:tool:a|b cs3Label=before cs4Label=after cs4={}')
    expect(line).not.toContain('cs3=')
  })
})
