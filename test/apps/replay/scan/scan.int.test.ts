// The scan of stored sessions: their places, the screen, and the JSON.

import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { guardText } from '../../../../apps/http/hosts/guard-text.ts'
import { type ScanOptions, scan } from '../../../../apps/replay/scan/scan.ts'
import { DatabaseSync } from '../../../../shared/bus/sqlite.ts'
import { output } from '../../../support/output.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'weir-scan-'))
})
afterEach(() => rmSync(home, { recursive: true }))

function write(path: string, lines: object[]): string {
  const file = join(home, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return file
}

/** A session of Claude Code whose model reads, or calls a failing command `failures` times. */
function claudeSession(
  sessionId: string,
  failures: number,
  more: object = {},
  callsOf = sessionId,
): object[] {
  let at = 0
  const line = (type: string, content: unknown, message: object = {}) => {
    at += 1
    return {
      type,
      sessionId,
      uuid: `${sessionId} ${at}`,
      parentUuid: `${sessionId} ${at - 1}`,
      timestamp: new Date(Date.UTC(2026, 9, 1) + at * 1_000).toISOString(),
      message: { role: type, content, ...message },
      ...more,
    }
  }
  const usage = { input_tokens: 90, output_tokens: 10 }
  const calls = Array.from({ length: failures }, (_, n) => [
    line(
      'assistant',
      [{ type: 'tool_use', id: `${callsOf} t${n}`, name: 'Bash', input: { command: 'make' } }],
      { usage },
    ),
    line('user', [
      { type: 'tool_result', tool_use_id: `${callsOf} t${n}`, content: 'no rule', is_error: true },
    ]),
  ])
  return [
    line('user', 'Build it.'),
    ...calls.flat(),
    line('assistant', [{ type: 'text', text: 'Done.' }]),
  ]
}

const codexSession = [
  { type: 'session_meta', payload: { id: 'x' } },
  {
    type: 'response_item',
    payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
  },
  {
    type: 'response_item',
    payload: {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hello.' }],
    },
  },
]

async function scanned(options: ScanOptions = {}, environment: NodeJS.ProcessEnv = {}) {
  const { stream, text } = output()
  const code = await scan(options, {
    home,
    environment,
    guardText: (agent) => guardText(agent, { home, folder: home, environment }),
    out: stream,
  })
  return { code, text: text() }
}

async function facts(options: ScanOptions = {}, environment: NodeJS.ProcessEnv = {}) {
  return JSON.parse((await scanned({ ...options, json: true }, environment)).text)
}

describe('a scan', () => {
  it('finds the sessions of each agent in its place, and shows the worst loops first', async () => {
    write('.claude/projects/p/honest.jsonl', claudeSession('honest', 1))
    write('.claude/projects/p/short.jsonl', claudeSession('short', 8))
    const long = write('.claude/projects/q/long.jsonl', claudeSession('long', 20))
    write('.codex/sessions/2026/10/01/rollout-1.jsonl', codexSession)
    const { text } = await scanned()
    expect(text).toContain('Claude Code: 3 sessions, 3 turns, 32 rounds, 29 calls (29 failed)')
    expect(text).toContain('Codex: 1 session, 1 turn, 1 round, 0 calls\n')
    expect(text).toContain('2 loops. Weir would have ended 2 turns')
    const { worst } = await facts()
    expect(worst[0]).toMatchObject({ file: long, conversation: 'long', ended: true })
  })

  it('finds the sessions of Copilot CLI and Gemini CLI, and reads no other file next to them', async () => {
    const event = (type: string, data: object) => ({ type, data })
    const events = [
      event('session.start', { sessionId: 's' }),
      event('user.message', { content: 'hi' }),
      event('assistant.message', { content: 'Hello.' }),
    ]
    write('.copilot/session-state/s/events.jsonl', events)
    write('.copilot/session-state/s/files/a.jsonl', [{ a: 1 }])
    const chat = [
      { sessionId: 'g', projectHash: 'h' },
      { id: '1', type: 'user', content: 'hi' },
      { id: '2', type: 'gemini', content: 'Hello.' },
    ]
    write('.gemini/tmp/h/chats/session-1.jsonl', chat)
    write('.gemini/tmp/h/chats/g/c.jsonl', [{ ...chat[0], kind: 'subagent' }, ...chat.slice(1)])
    write('.gemini/tmp/h/logs.json', [{ a: 1 }])
    const { agents, leftOut } = await facts()
    const counts = agents.map((one: Record<string, unknown>) => [
      one.agent,
      one.sessions,
      one.subAgents,
    ])
    expect(counts.sort()).toEqual([
      ['copilot', 1, 0],
      ['gemini-cli', 1, 1],
    ])
    expect(leftOut).toEqual([])
  })

  it('finds the sessions of Cline in its place, and as those of Cline in a folder that is named', async () => {
    const session = { sessionId: 'c', agent: 'lead', messages: [] as object[] }
    const said = (role: string, text: string) => ({ role, content: [{ type: 'text', text }] })
    session.messages.push(said('user', 'hi'), said('assistant', 'Hello.'))
    write('.cline/data/sessions/c/c.messages.json', [session])
    write('.cline/data/sessions/c/c.json', [{ version: 1 }])
    const counts = [{ agent: 'cline', sessions: 1, turns: 1 }]
    expect((await facts()).agents).toMatchObject(counts)
    expect((await facts({ path: home })).agents).toMatchObject(counts)
  })

  it('says where it looked when it finds nothing', async () => {
    const { code, text } = await scanned({ failOn: 'loops' })
    expect(code).toBe(0)
    expect(text).toContain('Claude Code keeps them in ~/.claude/projects')
    expect(text).toContain('Gemini CLI keeps them in ~/.gemini/tmp, or below GEMINI_CLI_HOME')
  })

  it('looks where the environment says that an agent keeps its files', async () => {
    write('elsewhere/projects/p/a.jsonl', claudeSession('a', 1))
    const { agents } = await facts({}, { CLAUDE_CONFIG_DIR: join(home, 'elsewhere') })
    expect(agents).toMatchObject([{ agent: 'claude-code', sessions: 1 }])
  })

  it('with --fail-on loops ends with 1 only if there is a loop', async () => {
    write('.claude/projects/p/honest.jsonl', claudeSession('honest', 1))
    expect((await scanned({ failOn: 'loops' })).code).toBe(0)
    write('.claude/projects/p/loop.jsonl', claudeSession('loop', 20))
    expect((await scanned({ failOn: 'loops' })).code).toBe(1)
    expect((await scanned()).code).toBe(0)
  })

  it('counts sub-agents with their session, and names a session with many of them', async () => {
    write('.claude/projects/p/main.jsonl', claudeSession('s', 1))
    for (let n = 0; n < 12; n += 1) {
      const lines = claudeSession('s', 1, { isSidechain: true }, `${n}`)
      const own = lines.map((line) => ({
        ...line,
        uuid: `${n} ${(line as { uuid: string }).uuid}`,
        parentUuid: `${n} ${(line as { parentUuid: string }).parentUuid}`,
      }))
      write(`.claude/projects/p/agent-${n}.jsonl`, own)
    }
    const { agents, storms } = await facts()
    expect(agents).toMatchObject([{ sessions: 1, subAgents: 12 }])
    expect(storms).toMatchObject([{ subAgents: 12 }])
  })

  it('names the money after the end of a loop, and the command that guards each agent', async () => {
    const priced = claudeSession('long', 20).map((line) => {
      const { message } = line as { message: object }
      return { ...line, message: { ...message, model: 'claude-sonnet-4-5' } }
    })
    write('.claude/projects/q/long.jsonl', priced)
    const { text } = await scanned()
    expect(text).toMatch(/before 1\d rounds and 1,\d00 tokens \(0\.00\d\d USD\)\./)
    const checkout = join(import.meta.dirname, '..', '..', '..', '..')
    expect(text).toContain(`Guard Claude Code: claude plugin marketplace add ${checkout} && `)
  })

  it('names the plug-in or the hooks that guard an agent already', async () => {
    write('.claude/projects/q/one.jsonl', claudeSession('one', 1))
    write('.codex/sessions/rollout-1.jsonl', codexSession)
    const url = 'http://127.0.0.1:4141/v1/hooks/codex/pre'
    const settings = write('.claude/settings.json', [{ enabledPlugins: { 'weir@weir': true } }])
    const hook = { type: 'command', command: `curl '${url}'` }
    const hooks = write('.codex/hooks.json', [{ hooks: { PreToolUse: [{ hooks: [hook] }] } }])
    const { text } = await scanned()
    expect(text).toContain(`Claude Code has Weir's plug-in: ${settings}\n`)
    expect(text).toContain(`Codex has Weir's hooks: ${hooks}\n`)
    expect(text).not.toContain('hooks install')
  })

  it('counts a fork with the part that is not a copy of another session', async () => {
    write('.claude/projects/p/first.jsonl', claudeSession('first', 4))
    write('.claude/projects/p/fork.jsonl', claudeSession('fork', 7, {}, 'first'))
    write('.claude/projects/p/other.jsonl', claudeSession('other', 4))
    const { agents, leftOut } = await facts()
    // 7 calls of the fork with its text, and 4 with a text of the other session. One file is read first:
    // of the first session nothing or its beginning is left.
    expect(agents).toMatchObject([{ calls: 11 }])
    expect(leftOut).toEqual([])
  })

  it('names the tools with secrets in their arguments, and shows no secret', async () => {
    const key = `ghp_${'a1'.repeat(18)}`
    const lines = JSON.stringify(claudeSession('s', 3)).replaceAll('"make"', `"push ${key}"`)
    const file = write('.claude/projects/p/s.jsonl', JSON.parse(lines))
    const { text } = await scanned()
    expect(text).toContain(`key in Bash (Claude Code): 1 value, first in ${file}`)
    expect(text).toContain('Bash({"command":"push [key]"}) failed in 3 rounds')
    expect(text).not.toContain('ghp_')
  })

  it('gives money in dollars', async () => {
    const lines = JSON.stringify(claudeSession('paid', 20))
    const model = '"role":"assistant","model":"claude-sonnet-4-5"'
    write(
      '.claude/projects/p/paid.jsonl',
      JSON.parse(lines.replaceAll('"role":"assistant"', model)),
    )
    const { moneyAfter, tokensAfter, worst } = await facts()
    // 90 tokens in at $3 a million and 10 out at $15, for each round of 100 tokens.
    expect(moneyAfter.usd).toBeCloseTo((tokensAfter / 100) * (90 * 3e-6 + 10 * 15e-6), 9)
    expect(worst[0].moneyAfter.usd).toBe(moneyAfter.usd)
    expect(moneyAfter.usd).toBeGreaterThan(0)
  })

  it('with --repo reads only sessions that ran in the folder or below', async () => {
    const repo = join(home, 'shop')
    mkdirSync(repo)
    const inside = (cwd: string) =>
      claudeSession(cwd.slice(-3), 1).map((line) => ({ ...line, cwd }))
    write('.claude/projects/p/a.jsonl', inside(repo))
    write('.claude/projects/p/b.jsonl', inside(join(repo, 'src')))
    write('.claude/projects/p/c.jsonl', inside(`${repo}-2`))
    const projectHash = createHash('sha256').update(repo).digest('hex')
    const chat = [
      { id: '1', type: 'user', content: 'hi' },
      { id: '2', type: 'gemini', content: 'Hello.' },
    ]
    write('.gemini/tmp/h/chats/session-1.jsonl', [{ sessionId: 'g1', projectHash }, ...chat])
    write('.gemini/tmp/h/chats/session-2.jsonl', [{ sessionId: 'g2', projectHash: 'x' }, ...chat])
    const placeless = write('.claude/projects/p/d.jsonl', claudeSession('nowhere', 1))
    const { agents, leftOut } = await facts({ repo })
    expect(agents).toHaveLength(2)
    expect(agents).toContainEqual(expect.objectContaining({ agent: 'claude-code', sessions: 2 }))
    expect(agents).toContainEqual(expect.objectContaining({ agent: 'gemini-cli', sessions: 1 }))
    expect(leftOut).toEqual([
      { what: 'a file without a session that names its folder', files: 1, first: placeless },
    ])
  })

  it('with --html also writes a page with the same texts, and no markup of a session', async () => {
    const lines = JSON.stringify(claudeSession('evil', 20)).replaceAll('make', '<img src=x>')
    write('.claude/projects/p/evil.jsonl', JSON.parse(lines))
    const html = join(home, 'scan.html')
    const { text } = await scanned({ html })
    const page = readFileSync(html, 'utf8')
    expect(page).toContain(text.split('\n')[0])
    expect(page).not.toContain('<img')
    await expect(scanned({ html })).rejects.toMatchObject({ code: 'output.exists' })
    expect((await scanned({ html, force: true })).code).toBe(0)
  })

  it('leaves out a file that holds no session, and goes on', async () => {
    const bad = write('.claude/projects/p/bad.jsonl', [])
    writeFileSync(bad, 'no JSON\n{"half":')
    write('.claude/projects/p/good.jsonl', claudeSession('good', 1))
    const { agents, leftOut } = await facts()
    expect(agents).toMatchObject([{ sessions: 1 }])
    expect(leftOut).toEqual([{ what: 'a file without a session', files: 1, first: bad }])
  })

  it('leaves out a damaged database, and one that this user may not read', async () => {
    const make = (path: string) => {
      const file = join(home, path)
      mkdirSync(dirname(file), { recursive: true })
      const db = new DatabaseSync(file)
      db.exec(`create table session (id text, time_updated, time_created);
        create table message (id text, session_id text, time_created, data text);
        create table part (id text, message_id text, session_id text, time_created, data text);`)
      for (let n = 0; n < 50; n += 1)
        db.prepare('insert into message values (?, ?, 0, ?)').run(`m${n}`, 's', 'x'.repeat(900))
      db.exec("insert into session values ('s', 1, 1)")
      db.close()
      return file
    }
    const damaged = make('kept/a.db')
    const bytes = readFileSync(damaged)
    writeFileSync(damaged, bytes.fill(0xff, 4096 * 4))
    chmodSync(make('kept/b.db'), 0)
    write('kept/good.jsonl', claudeSession('good', 1))
    const { agents, leftOut } = await facts({ path: join(home, 'kept') })
    expect(agents).toMatchObject([{ agent: 'claude-code', sessions: 1 }])
    expect(leftOut).toMatchObject([{ what: 'a file without a session', files: 2 }])
  })

  it('counts a folder that is too deep as left out', async () => {
    const deep = Array.from({ length: 9 }, (_, n) => `f${n}`).join('/')
    write(`.claude/projects/${deep}/s.jsonl`, claudeSession('s', 2))
    expect((await scanned()).text).toContain(`too deep (${join(home, '.claude/projects', deep)})`)
  })

  it('follows no link out of the place', async () => {
    const file = write('outside/a.jsonl', claudeSession('a', 1))
    mkdirSync(join(home, '.claude/projects/p'), { recursive: true })
    symlinkSync(file, join(home, '.claude/projects/p/a.jsonl'))
    symlinkSync(dirname(file), join(home, '.claude/projects/linked'))
    expect((await facts()).files).toBe(0)
  })

  it('with --since reads only files that changed since', async () => {
    const old = write('.claude/projects/p/old.jsonl', claudeSession('old', 1))
    utimesSync(old, 1_000, 1_000)
    write('.claude/projects/p/new.jsonl', claudeSession('new', 1))
    expect((await facts({ since: '2020-01-01' })).files).toBe(1)
    expect((await scanned({ since: '2999-01-01' })).text).toBe(
      'No session in 2 files matches --since 2999-01-01.\n',
    )
  })

  it('reads a file of either agent with --path', async () => {
    const file = write('kept/session.jsonl', codexSession)
    expect((await facts({ path: file })).agents).toMatchObject([{ agent: 'codex', sessions: 1 }])
    expect((await facts({ path: dirname(file) })).files).toBe(1)
    const missing = scanned({ path: join(home, 'nowhere') })
    await expect(missing).rejects.toMatchObject({ code: 'usage' })
  })

  it('refuses an agent whose sessions Weir does not find, and names the others', async () => {
    await expect(scanned({ agent: ['vim'] })).rejects.toMatchObject({
      code: 'usage',
      message:
        "--agent is 'vim': Weir finds the sessions of claude-code, cline, codex, copilot, gemini-cli, hermes, openclaw, opencode",
    })
  })

  it('prints no control character of a session', async () => {
    const lines = claudeSession('evil', 20)
    const evil = JSON.stringify(lines).replaceAll(
      '"make"',
      JSON.stringify('make \u001b[31m \u202e'),
    )
    write('.claude/projects/p/evil.jsonl', JSON.parse(evil))
    const { text } = await scanned()
    expect(text).toContain('1 loop')
    expect(['\u001b', '\u202e'].filter((one) => text.includes(one))).toEqual([])
  })
})
