// `weir init`, `weir settings` and `weir doctor`, as a new user runs them from a shell.

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { sandboxBackend } from '../../shared/lib/sandbox/backend.ts'
import { call, resultsOf, says, script, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'

const canSandbox = 'backend' in sandboxBackend()
const key = 'sk-secret-0123456789'
const environment = { ANTHROPIC_API_KEY: key }

let commands: CommandFolder
beforeEach(async () => {
  commands = await openCommandFolder(
    script(
      says(
        call('list_files', { folder: '.' }),
        call('read_file', { file: 'notes.txt', lines: 1 }),
        call('read_file', { file: '../agent.yaml' }),
      ),
      says(text('These files.')),
    ),
  )
})
afterEach(() => commands.close())

const path = (...names: string[]) => join(commands.folder, ...names)

function edit(name: string, from: string, to: string): void {
  const before = readFileSync(path(name), 'utf8')
  expect(before).toContain(from)
  writeFileSync(path(name), before.replace(from, to))
}

describe('weir init', () => {
  it('writes an agent that answers at once, with tools that read only its folder', async () => {
    const written = await commands.run(['init', 'start'])
    expect(written.code).toBe(0)
    expect(written.out).toMatch(
      /^written {2}start\/agent\.yaml\n(written {2}.*\n)+\nNext:\n {2}cd start\n {2}export ANTHROPIC_API_KEY=.*\n {2}(npx )?\S*weir doctor/,
    )

    edit(
      'start/agent.yaml',
      'name: claude-sonnet-5-5',
      `name: scripted\n  baseUrl: ${commands.server.url}`,
    )
    for (const _ of ['list', 'read'])
      edit('start/agent.yaml', 'timeoutMs: 10000', 'timeoutMs: 60000')
    const { code, out, errors } = await commands.run([
      'ask',
      '--agent',
      'start/agent.yaml',
      'Which files?',
    ])
    expect({ code, out, errors }).toMatchObject({ code: 0, out: 'These files.\n' })
    const [listed, read, refused] = resultsOf(commands.server.requests[1])
    expect(listed).toMatch(/^notes\.txt \d+\n?$/)
    expect(read).toMatch(/^The tools of agent\.yaml see this folder.*\n\(\d+ more lines\)$/)
    expect(refused).toMatch(canSandbox ? /no such file|is outside/ : /is outside/)
  })

  it('never overwrites a file, and lists the kept ones', async () => {
    const before = readFileSync(path('agent.yaml'), 'utf8')
    const { code, out } = await commands.run(['init'], { environment })
    expect(code).toBe(0)
    expect(out).toContain(
      'kept     agent.yaml (it exists)\nwritten  files/notes.txt\nwritten  tools/list-files.mjs\n',
    )
    expect(out).not.toContain('export ANTHROPIC_API_KEY')
    expect(readFileSync(path('agent.yaml'), 'utf8')).toBe(before)
    expect((await commands.run(['init'])).out).not.toContain('written')
  })

  it('reports a folder that it cannot write', async () => {
    const { code, errors } = await commands.run(['init', 'agent.yaml'])
    expect({ code, errors }).toEqual({
      code: 2,
      errors: expect.stringMatching(
        /^weir: cannot write agent\.yaml\/agent\.yaml \(\w+\): name a folder/,
      ),
    })
  })
})

describe('weir settings', () => {
  it('shows each with its value, unit, origin and meaning', async () => {
    writeFileSync(path('weir.yaml'), 'synchronous: full\ndataFolder: data\n')
    const kafka = ['--bus', 'kafka', '--bootstrap-server', 'one:9092,two:9092']
    const secret = [
      '--command-property',
      'sasl.password=hunter2',
      '--command-property',
      'client.id=me',
    ]
    const { code, out } = await commands.run(
      ['settings', '--partitions', '2', ...kafka, ...secret],
      {
        environment: { WEIR_LOG_LEVEL: 'info' },
      },
    )
    expect(code).toBe(0)
    const values = out.split('\n').filter((line) => /^\w/.test(line))
    expect(values.map((line) => line.replace(/ {2,}/, ': '))).toEqual(
      expect.arrayContaining([
        'bus: kafka  (the flag --bus)',
        'dataFolder: data  (weir.yaml:2)',
        'bootstrapServer: one:9092,two:9092  (the flag --bootstrap-server)',
        'commandConfig: (empty)  (the default)',
        'commandProperty: sasl.password, client.id (values are not shown)  (the flag --command-property)',
        'topicPrefix: weir.  (the default)',
        'partitions: 2  (the flag --partitions)',
        'replicationFactor: 0 copies  (the default)',
        'synchronous: full  (weir.yaml:1)',
        'logLevel: info  (the variable WEIR_LOG_LEVEL)',
      ]),
    )
    expect(new Set(values.map((line) => /^\w+ {2,}/.exec(line)?.[0].length)).size).toBe(1)
    expect(out).not.toContain('hunter2')
    const isAbout = (line: string) => line.startsWith(' ')
    expect(
      Math.max(
        ...out
          .split('\n')
          .filter(isAbout)
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(80)
  })

  it('prints one JSON object with a member for each setting', async () => {
    writeFileSync(path('other.json'), '{ "partitions": 8 }')
    const given = {
      WEIR_BUS: 'kafka',
      WEIR_COMMAND_PROPERTY: 'bootstrap.servers=one:9092\nsasl.password=hunter2',
    }
    const { out } = await commands.run(['settings', '--json', '--config', 'other.json'], {
      environment: given,
    })
    expect(out).not.toContain('hunter2')
    expect(JSON.parse(out)).toMatchObject({
      dataFolder: {
        value: '.weir',
        unit: null,
        origin: { kind: 'default' },
        flag: '--data-folder',
        variable: 'WEIR_DATA_FOLDER',
      },
      partitions: {
        value: 8,
        unit: 'partitions',
        origin: { kind: 'file', name: 'other.json:1' },
        default: 4,
        secret: false,
      },
      commandProperty: { value: null, names: ['bootstrap.servers', 'sasl.password'], secret: true },
    })
  })

  it('are checked by every command, which reports all mistakes at once', async () => {
    writeFileSync(path('weir.yaml'), 'partitons: 4\nlogLevel: loud\n')
    for (const command of [
      ['settings'],
      ['conversations'],
      ['ask', '--agent', 'agent.yaml', 'hello'],
    ]) {
      const { code, errors } = await commands.run(command, {
        environment: { WEIR_DATA_FOLDER: '' },
      })
      expect({ code, errors }).toEqual({
        code: 2,
        errors:
          'weir: Settings cannot be used.\n' +
          '  logLevel is "loud" (from weir.yaml:2); must be trace, debug, info, warn, error, fatal or silent\n' +
          '  dataFolder is "" (from the variable WEIR_DATA_FOLDER); must not be empty\n' +
          '  weir.yaml:1:1 partitons: is an unknown setting; did you mean partitions?\n',
      })
    }
  })
})

describe('weir doctor', () => {
  const examine = async (args: string[] = [], given: Record<string, string> = environment) => {
    const { code, out, errors } = await commands.run(['doctor', ...args], { environment: given })
    expect(errors).toBe('')
    expect(out).not.toContain(key)
    const lines = out.split('\n').filter((line) => /^(ok|warning|wrong|skipped) /.test(line))
    const known = canSandbox ? lines : lines.filter((line) => !line.includes(' sandbox '))
    return { code, out, lines: known, notWell: known.filter((line) => !line.startsWith('ok ')) }
  }

  it('accepts the files of weir init: one line for each check, aligned', async () => {
    await commands.run(['init', 'start'])
    const { code, out, lines, notWell } = await examine(['--agent', 'start'])
    expect({ code, notWell }).toEqual({ code: 0, notWell: [] })
    expect(lines.map((line) => line.slice(0, 22))).toEqual(
      [
        'node',
        'settings',
        'data folder',
        'access',
        'lock',
        'disk space',
        'log file',
        'clock',
        'agent',
        'key',
        'tool',
        'tool',
        ...(canSandbox ? ['sandbox', 'sandbox', 'sandbox'] : []),
      ].map((name) => `ok       ${name.padEnd(13)}`),
    )
    expect(out.endsWith('\n\nNothing is wrong.\n')).toBe(true)
  })

  it('lists everything that is missing, with the remedies', async () => {
    await commands.run(['init', 'start'])
    edit('start/agent.yaml', 'command: [node,', 'command: [no-such-program,')
    const { code, notWell } = await examine(['--agent', 'start', '--data-folder', 'agent.yaml'], {})
    expect(code).toBe(1)
    expect(notWell).toEqual([
      expect.stringMatching(
        /^wrong {4}data folder {2}.*agent\.yaml is no folder: name another one/,
      ),
      expect.stringMatching(/^wrong {4}key .*ANTHROPIC_API_KEY is not set/),
      expect.stringMatching(/^wrong {4}agent .*no-such-program.*not in PATH; install it/),
      expect.stringMatching(/^skipped {2}tools/),
    ])
  })

  it('reports mistakes in settings and modules', async () => {
    await commands.run(['init', 'start'])
    writeFileSync(path('start/tools/read-file.mjs'), "import 'no-such-package'\n")
    const { code, notWell } = await examine(['--agent', 'start', '--partitions', '0'])
    expect(code).toBe(1)
    expect(notWell).toEqual([
      expect.stringMatching(
        /^wrong {4}settings {5}partitions is "0" \(from the flag --partitions\); must be/,
      ),
      expect.stringMatching(/^skipped {2}data folder/),
      expect.stringMatching(
        /^wrong {4}tool .*start\/read_file: .*cannot be imported: .*no-such-package.*: correct the module$/,
      ),
    ])
  })

  it("reports a log's wrong partitions or version, and a file that is not a log", async () => {
    edit('agent.yaml', 'tools:', 'sandbox: off\ntools:')
    await commands.run(['ask', '--agent', 'agent.yaml', 'hello'])
    expect((await examine([])).notWell).toEqual([])
    expect((await examine(['--partitions', '8'])).notWell).toEqual([
      expect.stringMatching(
        /^wrong {4}log file .*the setting partitions is 8, and its topics have 1: set partitions to 1/,
      ),
    ])

    const file = path('.weir', 'weir.db')
    const bytes = readFileSync(file)
    bytes.writeInt32BE(99, 60) // SQLite's user_version
    writeFileSync(file, bytes)
    expect((await examine([])).notWell).toEqual([
      expect.stringMatching(/^wrong {4}log file .*has format 99.*use the newer Weir/),
    ])
    writeFileSync(file, 'something else, and more than a header of a hundred bytes '.repeat(10))
    expect((await examine([])).notWell).toEqual([
      expect.stringMatching(/^wrong {4}log file .*is not a Weir log.*name another file/),
    ])
  })

  it('names the first step if there is no agent', async () => {
    rmSync(path('agent.yaml'))
    const { code, notWell } = await examine()
    expect({ code, notWell }).toEqual({
      code: 0,
      notWell: [
        expect.stringMatching(/^warning {2}agent .*: name one: --agent FILE; weir init makes one$/),
      ],
    })
  })

  describe('online', () => {
    let server: Server | undefined
    afterEach(() => {
      server?.close()
    })

    async function answering(answer: (request: IncomingMessage) => number): Promise<string[]> {
      server = createServer((request, response) => response.writeHead(answer(request)).end('{}'))
      await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      writeFileSync(
        path('agent.yaml'),
        `system: x\nmodel: { provider: anthropic, name: some-model, maxOutputTokens: 1, baseUrl: 'http://127.0.0.1:${port}', apiKey: '\${ANTHROPIC_API_KEY}' }\n`,
      )
      return (await examine(['--online'])).lines.filter((line) => line.includes(' provider '))
    }

    it('checks the model with the key', async () => {
      const seen: string[] = []
      const lines = await answering((request) => {
        seen.push(`${request.method} ${request.url} ${request.headers['x-api-key']}`)
        return 200
      })
      expect(seen).toEqual([`GET /v1/models/some-model ${key}`])
      expect(lines).toEqual([
        expect.stringMatching(/^ok .*agent: 127\.0\.0\.1:\d+ answers, and knows some-model$/),
      ])
    })

    it.each([
      [401, /^wrong .*refuses the key \(401\): put a valid key/],
      [404, /^warning .*does not know a model some-model: check model\.name/],
      [503, /^warning .*answers with 503: try again later/],
    ])('explains a %d', async (status, words) => {
      expect(await answering(() => status)).toEqual([expect.stringMatching(words)])
    })

    it('reports a provider that does not answer', async () => {
      const url = commands.server.url
      await commands.server.close()
      writeFileSync(
        path('agent.yaml'),
        `system: x\nmodel: { provider: openai-chat, name: m, maxOutputTokens: 1, baseUrl: '${url}' }\n`,
      )
      const { code, notWell } = await examine(['--online'])
      expect({ code, notWell }).toEqual({
        code: 1,
        notWell: [
          expect.stringMatching(/^wrong .*cannot be reached \(ECONNREFUSED\): check the address/),
        ],
      })
    })
  })
})
