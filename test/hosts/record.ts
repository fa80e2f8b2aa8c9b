// Records runs of hosts without Weir into test/hosts/recorded: the requests, the answers and the
// payloads of hooks. Run it for a new version: node_modules/.bin/node test/hosts/record.ts
// `--only TEXT` records the cases whose names contain the text.
// Only forms count, so long texts of the hosts are replaced (scrub.ts).

import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { type Observed, type ObserveOptions, observe } from './cases/case.ts'
import { type RecordedRun, recordedRuns } from './cases/recorded-runs.ts'
import { versionOf } from './installed-hosts.ts'
import type { ScriptedAnswer, SeenRequest } from './model-server.ts'
import { command, type Program } from './programs/program.ts'
import { claudeCode, codex } from './programs/terminal-agents.ts'
import {
  differences,
  type RecordedCase,
  type RecordedHook,
  recordedFolder,
} from './recorded-case.ts'
import type { Recorded } from './recorded-host.ts'
import { scrubber } from './scrub.ts'
import { conversationOf } from './transcript.ts'

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })

await mkdir(recordedFolder, { recursive: true })
for (const program of [claudeCode, codex])
  if (`${program.title}, first`.includes(values.only)) await recordHost(program)
for (const run of recordedRuns)
  if (`${run.program.title}, ${run.title}`.includes(values.only)) await recordCase(run)

type Run = { observed: Observed; hooks: RecordedHook[] }

/** A run whose hooks, if it has any, are kept. */
async function recorded(program: Program, options: ObserveOptions): Promise<Run> {
  const hooks: RecordedHook[] = []
  let requests = 0
  const server = createServer(async (request, response) => {
    const kind = request.url?.split('/').at(-1) ?? ''
    hooks.push({ after: requests, kind, body: JSON.parse(await textOf(request)) })
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    const script: ObserveOptions['script'] = (work) => {
      const inner = options.script(work)
      return (request, number) => {
        requests = number
        return inner(request, number)
      }
    }
    const observed = await observe(program, 'none', {
      ...options,
      script,
      ...(program.hooks !== undefined && { hooksUrl: `http://127.0.0.1:${port}` }),
    })
    return { observed, hooks }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** The forms of requests and hooks of one short run. */
async function recordHost(program: Program): Promise<void> {
  const first = [
    { text: 'I look.', calls: [command(program, 'echo one'), command(program, 'ls missing')] },
    { calls: [{ name: program.shell.name, input: '{}' }] },
  ]
  const script = () => (_: unknown, number: number) => first[number - 1] ?? { text: 'Done.' }
  const { observed, hooks } = await recorded(program, { script })
  const called = new Set(['Bash', 'Write', 'exec_command', 'write_stdin'])
  const content: Recorded = {
    host: program.hooks?.name ?? '',
    version: versionOf(program.package),
    requests: observed.requests.map(({ path, headers, body }) => ({
      path,
      headers: identityOf(headers),
      body,
    })),
    hooks: hooks.map(({ kind, body }) => ({ kind, body })),
  }
  const target = join(recordedFolder, '..', `${content.host}.json`)
  const scrubbed = scrubber(observed.home, called)(content)
  await write(target, `${JSON.stringify(scrubbed, undefined, 1)}\n`)
}

async function recordCase({ program, title, options, requestsMax }: RecordedRun): Promise<void> {
  const { observed, hooks } = await recorded(program, options)
  const requests = observed.requests.slice(0, requestsMax)
  const answers = observed.answers.slice(0, requestsMax)
  const called = new Set(answers.flatMap(({ calls = [] }) => calls.map(({ name }) => name)))
  const threads: string[] = []
  const whole = requests.map((request, at) => ({
    thread: numberOf(threads, request),
    path: request.path,
    headers: identityOf(request.headers),
    body: request.body,
    answer: answers[at] as ScriptedAnswer,
  }))
  const scrub = scrubber(observed.home, called)
  const content: RecordedCase = {
    host: program.title,
    version: versionOf(program.package),
    title,
    requests: differences(scrub(whole) as typeof whole),
    hooks: scrub(hooks.filter(({ after }) => after <= requests.length)) as RecordedHook[],
  }
  const name = `${program.title} ${title}`.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  await write(join(recordedFolder, `${name}.json`), linesOf(content))
}

/** One line for each request and each hook. */
function linesOf({ requests, hooks, ...head }: RecordedCase): string {
  const list = (name: string, all: readonly unknown[]) =>
    ` "${name}": [\n${all.map((one) => `  ${JSON.stringify(one)}`).join(',\n')}\n ]`
  const members = Object.entries(head).map(
    ([name, value]) => ` "${name}": ${JSON.stringify(value)}`,
  )
  return `{\n${[...members, list('requests', requests), list('hooks', hooks)].join(',\n')}\n}\n`
}

function numberOf(threads: string[], request: SeenRequest): number {
  const key = conversationOf(request)
  if (!threads.includes(key)) threads.push(key)
  return threads.indexOf(key)
}

async function write(file: string, text: string): Promise<void> {
  await writeFile(file, text)
  process.stdout.write(`${file}: ${Math.ceil(text.length / 1000)} kB\n`)
}

/** The headers that name a session, a thread, a turn or the program. */
function identityOf(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) =>
      /^(x-claude|x-codex|session-id|thread-id|user-agent|anthropic-version|originator|x-session|x-parent|x-initiator|x-interaction)/.test(
        name,
      ),
    ),
  )
}
