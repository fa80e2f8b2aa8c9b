// Agent files with `guest: true`: agents that own their model and their tools.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
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
  once: null,
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

  it('stands next to the files of other agents, which leave it out', () => {
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

  describe('in the folder agents of the working folder', () => {
    const before = process.cwd()
    const named = process.env.WEIR_AGENTS
    beforeAll(() => {
      mkdirSync(join(folder, 'agents'))
      process.chdir(folder)
      delete process.env.WEIR_AGENTS
    })
    afterEach(() => {
      delete process.env.WEIR_AGENTS
    })
    afterAll(() => {
      process.chdir(before)
      if (named !== undefined) process.env.WEIR_AGENTS = named
    })

    it('may set caps, because they are the highest ones without it', () => {
      file('agents/found.yaml', 'guest: true\ncaps: { calls: 7, rounds: 3 }\n')
      expect(guestAgent('found').settings.policy.caps).toMatchObject({ calls: 7, rounds: 3 })
    })

    it.each([
      ['loop: { rules: { cycle: shadow } }'],
      ['loop: { identicalFailures: 9 }'],
      ['empty: { beforeTools: 9 }'],
      ['hints: { Bash: { poll: true } }'],
      ['record: calls'],
      ['fallback: Run this.'],
      ['graceMs: 1'],
      ['redact: [email]'],
    ])('is refused with %s until its folder or its path is named', (keys) => {
      const path = file('agents/found.yaml', `guest: true\n${keys}\n`)
      expect(() => guestAgent('found')).toThrow(
        'agents/found.yaml was only found in the working folder, so it may set caps and nothing else: if you trust it, name its folder with WEIR_AGENTS=agents',
      )
      expect(guestAgent(path).name).toBe('found')
      process.env.WEIR_AGENTS = 'agents'
      expect(guestAgent('found').name).toBe('found')
      process.env.WEIR_AGENTS = 'agents/found.yaml'
      expect(guestAgent('found').name).toBe('found')
    })

    it('does not count with other keys or a fault if a client chose the name, with a warning', () => {
      for (const text of [
        'guest: true\nrecord: calls\n',
        'guest: [',
        'guest: true\nname: other\n',
      ]) {
        file('agents/found.yaml', text)
        const warned: unknown[] = []
        const guest = guestAgent('found', { warn: (fields: unknown) => warned.push(fields) })
        expect(guest).toMatchObject({ settings: defaultGuestSettings, record: 'all' })
        expect(warned).toMatchObject([{ agent: 'found', err: { code: 'agent.invalid' } }])
      }
    })

    it('is found if WEIR_AGENTS names a module, which has no guests', () => {
      file('agents/found.yaml', 'guest: true\ncaps: { calls: 7 }\n')
      process.env.WEIR_AGENTS = 'serve/agents.ts'
      expect(guestAgent('found').settings.policy.caps.calls).toBe(7)
    })

    it('is not used if WEIR_AGENTS names another place', () => {
      file('agents/found.yaml', 'guest: true\ncaps: { calls: 7 }\n')
      process.env.WEIR_AGENTS = 'others'
      expect(guestAgent('found').settings).toEqual(defaultGuestSettings)
      process.env.WEIR_AGENTS = 'agents/other.yaml'
      expect(guestAgent('found').settings).toEqual(defaultGuestSettings)
    })
  })
})
