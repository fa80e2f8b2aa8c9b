// The hooks of Weir in the text of a host's settings.

import { describe, expect, it } from '@jest/globals'
import { claudeCode } from '../../../../apps/http/hosts/claude-code.ts'
import { codex } from '../../../../apps/http/hosts/codex.ts'
import {
  hasHooks,
  installedIn,
  withHooks,
  withoutHooks,
} from '../../../../apps/http/hosts/hook-settings.ts'
import type { Host } from '../../../../apps/http/hosts/host.ts'

const entries = (host: Host, version: string | null = '2.1.330') =>
  host.entries((kind) => `http://127.0.0.1:4141/v1/hooks/${host.name}/${kind}`, version)
const install = (text: string, host: Host = claudeCode) => withHooks(text, entries(host), 'a.json')
const remove = (text: string) => withoutHooks(text, 'a.json')

const foreign = {
  PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'check-command' }] }],
}
const texts = {
  'no file': '',
  'other settings': '{\n  "model": "opus"\n}\n',
  tabs: '{\n\t"model": "opus",\n\t"permissions": {\n\t\t"deny": []\n\t}\n}',
  'lines of Windows': '{\r\n  "model": "opus"\r\n}\r\n',
  'a number beyond doubles': '{\n    "id": 12345678901234567890,\n    "ratio": 1.0\n}\n',
  'foreign hooks': `${JSON.stringify({ hooks: foreign, model: 'opus' }, undefined, 2)}\n`,
}

describe('hooks in the settings of a host', () => {
  for (const [name, text] of Object.entries(texts)) {
    it(`leave the text byte for byte when they are removed: ${name}`, () => {
      for (const host of [claudeCode, codex]) {
        const edited = install(text, host)
        expect(edited).not.toBe(text)
        expect(remove(edited)).toBe(text)
      }
    })

    it(`stand there once, however often they are installed: ${name}`, () => {
      expect(install(install(text))).toBe(install(text))
    })
  }

  it('stand with the hooks of others, which stay', () => {
    const { hooks } = JSON.parse(install(texts['foreign hooks']))
    expect(hooks.PreToolUse).toEqual([
      ...foreign.PreToolUse,
      {
        matcher: '*',
        hooks: [{ type: 'command', command: expect.any(String), timeout: 610 }],
      },
    ])
  })

  it('are removed from a group that holds a foreign hook too', () => {
    const own = { type: 'http', url: 'http://127.0.0.1:4141/v1/hooks/claude-code/stop' }
    const other = { type: 'command', command: 'say done' }
    const text = JSON.stringify({ hooks: { Stop: [{ hooks: [other, own] }] } }, undefined, 2)
    expect(JSON.parse(remove(text))).toEqual({ hooks: { Stop: [{ hooks: [other] }] } })
  })

  it('are not confused with another service', () => {
    const urls = [
      'http://127.0.0.1:4141/v1/hooks/claude-code/other',
      'http://127.0.0.1:4141/v1/hooks/claude-code/pre/more',
      'http://127.0.0.1:4141/v2/hooks/claude-code/pre',
    ]
    const text = JSON.stringify({
      hooks: { Stop: [{ hooks: urls.map((url) => ({ type: 'http', url })) }] },
    })
    expect(remove(text)).toBe(text)
  })

  it('are found with their events and an address', () => {
    expect(installedIn(install('', codex), 'a.json')).toEqual({
      events: ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'],
      url: 'http://127.0.0.1:4141/v1/hooks/codex/prompt',
    })
    expect(installedIn(texts['foreign hooks'], 'a.json')).toEqual({ events: [], url: null })
  })

  it('are known as those of this version, in any order with hooks of others', () => {
    const isCurrent = (text: string) => hasHooks(text, entries(claudeCode), 'a.json')
    const text = install(texts['foreign hooks'])
    const value = JSON.parse(text)
    value.hooks.PreToolUse.reverse()
    expect([isCurrent(text), isCurrent(JSON.stringify(value))]).toEqual([true, true])
    const [group] = value.hooks.PreToolUse
    group.hooks = [{ type: 'http', url: 'http://127.0.0.1:4141/v1/hooks/claude-code/pre' }]
    expect([isCurrent(JSON.stringify(value)), isCurrent('')]).toEqual([false, false])
  })

  it.each([
    ['// a comment\n{}', /a\.json is no JSON, so the host ignores it/],
    ['[]', /a\.json is no JSON object/],
    ['{"hooks": []}', /has hooks that are no object/],
    ['{"hooks": {"Stop": {}}}', /has hooks\.Stop that is no list/],
  ])('are not added to %j', (text, reason) => {
    expect(() => install(text)).toThrow(reason)
  })
})

describe('the hooks of Claude Code', () => {
  it('deny a call when Weir does not answer, in each version', () => {
    for (const version of [null, '2.1.294', '2.1.330']) {
      const pre = entries(claudeCode, version).find(({ event }) => event === 'PreToolUse')
      expect(pre?.group).toMatchObject({
        hooks: [{ type: 'command', command: expect.stringMatching(/\|\| \{ .*exit 2; \}$/) }],
      })
    }
  })

  it('leave out an event that an old version may not know', () => {
    const events = entries(claudeCode, '2.1.100').map(({ event }) => event)
    expect(events).not.toContain('PostToolBatch')
    expect(events).toContain('PreToolUse')
  })

  it('are listed with more that is not protected for an older version', () => {
    const { length } = claudeCode.unprotected('2.1.330')
    expect(claudeCode.unprotected('2.1.200').length).toBe(length)
    expect(claudeCode.unprotected(null).length).toBe(length + 1)
  })
})
