// Agent files with `guest: true`: agents that own their model and their tools.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { agentsInFiles } from '../../../../client/agents/agents-in-files.ts'
import { guestAgent } from '../../../../client/guard/guest-file.ts'
import { loadGuests } from '../../../../shared/agents/file/load-agents.ts'
import { defaultGuestSettings } from '../../../../shared/agents/guest.ts'
import { limits } from '../../../../shared/contract/limits.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'guest-files-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const noHints = {
  poll: false,
  mutates: null,
  ignoreFields: [],
  loopKey: [],
  denial: null,
  labels: [],
  client: false,
}

function mistakesIn(text: string): string {
  try {
    loadGuests(file('mistakes.yaml', text))
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

describe('the file of a guest', () => {
  it('gives its settings and hints, and the highest caps where it sets none', () => {
    const guests = loadGuests(
      file(
        'coder.yaml',
        `guest: true
fallback: I stop here.
record: calls
caps: { rounds: 50 }
loop: { identicalFailures: 2, rules: { cycle: shadow } }
hints:
  Read: { mutates: false }
  Bash: { ignoreFields: [description] }
  Wait: { poll: true }
`,
      ),
    )
    const guest = guests.get('coder')
    expect(guest?.settings.fallback).toBe('I stop here.')
    expect(guest?.record).toBe('calls')
    expect(guest?.settings.policy).toMatchObject({
      caps: { rounds: 50, calls: limits.turnCallsMax, wallMs: limits.turnWallMsMax, tokens: null },
      loop: { identicalFailures: 2 },
      shadowed: ['cycle'],
    })
    expect(guest?.hints).toEqual({
      Read: { ...noHints, mutates: false },
      Bash: { ...noHints, ignoreFields: ['description'] },
      Wait: { ...noHints, poll: true },
    })
  })

  it('has the defaults of guests if it has nothing else', () => {
    expect(loadGuests(file('plain.yaml', 'guest: true\n')).get('plain')).toEqual({
      name: 'plain',
      settings: defaultGuestSettings,
      hints: {},
      record: 'all',
    })
  })

  it.each([
    [
      'a model',
      'guest: true\nmodel: { provider: anthropic, name: m, maxOutputTokens: 1 }\n',
      'model',
    ],
    ['tools', 'guest: true\ntools: []\n', 'tools'],
    ['a system text', 'guest: true\nsystem: Help.\n', 'system'],
    ['text calls', 'guest: true\ntextCalls: run\n', 'textCalls'],
  ])('refuses %s', (_, text, key) => {
    expect(mistakesIn(text)).toContain(
      `${key}: does not go with guest; remove it, because a guest owns its model and its tools`,
    )
  })

  it('names the accepted values of its own keys', () => {
    expect(mistakesIn('guest: false\n')).toContain('must be true, or no such key')
    expect(mistakesIn('guest: true\nrecord: none\n')).toContain('must be all or calls')
    expect(mistakesIn('guest: true\nhints: [Read]\n')).toContain(
      'must be a mapping of at most 512 names of tools',
    )
    expect(mistakesIn('guest: true\nhints: { Read: { mutate: true } }\n')).toContain(
      'did you mean mutates?',
    )
    expect(mistakesIn('guest: true\nhints: { Read: { denial: "{tol}" } }\n')).toContain(
      'did you mean {tool}?',
    )
  })

  it('stands beside the files of other agents, which leave it out', () => {
    const agents = mkdtempSync(join(folder, 'agents-'))
    writeFileSync(join(agents, 'coder.yaml'), 'guest: true\n')
    writeFileSync(
      join(agents, 'own.yaml'),
      'system: Help.\nmodel: { provider: anthropic, name: m, maxOutputTokens: 1 }\n',
    )
    expect([...agentsInFiles(agents, {}, []).keys()]).toEqual(['own'])
    expect([...loadGuests(agents).keys()]).toEqual(['coder'])
    writeFileSync(join(agents, 'twin.yaml'), 'name: own\nguest: true\n')
    expect(() => loadGuests(agents)).toThrow(/name: is "own", the name of the agent in .*own.yaml/)
  })

  it('is no agent with a missing model, and an agent with hints is no guest', () => {
    expect(mistakesIn('system: Help.\n')).toContain('model: is missing')
    expect(mistakesIn('fallback: x\n')).toContain('must have one of them')
    expect(
      mistakesIn(
        'system: Help.\nmodel: { provider: anthropic, name: m, maxOutputTokens: 1 }\nhints: {}\n',
      ),
    ).toContain('hints: goes with guest only; write the hints of a tool in tools')
    expect(
      mistakesIn(
        'system: Help.\nmodel: { provider: anthropic, name: m, maxOutputTokens: 1 }\nrecord: calls\n',
      ),
    ).toContain('record: goes with guest only; remove it')
  })
})

describe('a guest by its name or file', () => {
  it('has the settings of its file', () => {
    const path = file('by-path.yaml', 'guest: true\ncaps: { calls: 7 }\n')
    expect(guestAgent(path).settings.policy.caps.calls).toBe(7)
  })

  it('has the defaults if there is no file', () => {
    expect(guestAgent('no-such-guest')).toEqual({
      name: 'no-such-guest',
      settings: defaultGuestSettings,
      hints: {},
      record: 'all',
    })
  })

  it('is not the file of an agent with a model', () => {
    const path = file(
      'own.yaml',
      'system: Help.\nmodel: { provider: anthropic, name: m, maxOutputTokens: 1 }\n',
    )
    expect(() => guestAgent(path)).toThrow(/add guest: true, and remove its model and its tools/)
  })

  it('has a name of the accepted form', () => {
    expect(() => guestAgent('Coder!')).toThrow(
      'the name of the guest is "Coder!"; must be 1 to 64 of a-z, 0-9 and -',
    )
  })

  it('of a name is used with one warning, and of a path without any', () => {
    mkdirSync(join(folder, 'agents'))
    const path = file('agents/found.yaml', 'guest: true\ncaps: { calls: 7 }\n')
    const before = process.cwd()
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    try {
      process.chdir(folder)
      expect(guestAgent(path).settings.policy.caps.calls).toBe(7)
      expect(warn).not.toHaveBeenCalled()
      for (const _ of [1, 2]) expect(guestAgent('found').settings.policy.caps.calls).toBe(7)
      expect(warn.mock.calls).toEqual([
        ['agents/found.yaml of the working folder sets the rules and caps of this guest'],
      ])
    } finally {
      process.chdir(before)
      warn.mockRestore()
    }
  })
})
