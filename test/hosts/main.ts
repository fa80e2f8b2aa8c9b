// `make hosts`: Claude Code, Codex and Python clients against a scripted provider, through the proxy
// and through hooks. Installs them once (installed-hosts.ts); the runs need no network.
// `--only TEXT` runs the cases whose names contain the text. `--write` writes the results to
// docs/internals/hosts.md.

import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { claudeCode } from '../../apps/http/hosts/claude-code.ts'
import { codex } from '../../apps/http/hosts/codex.ts'
import { withHooks } from '../../apps/http/hosts/hook-settings.ts'
import type { Host } from '../../apps/http/hosts/host.ts'
import {
  type HostEnded,
  type HostFolder,
  openHostFolder,
  replyOfClaudeCode,
  replyOfCodex,
  startClaudeCode,
  startCodex,
} from './host-run.ts'
import {
  hostPackages,
  inspectorVersion,
  installedHosts,
  installedPython,
  litellmPackages,
  mcpPackages,
  pythonPackages,
} from './installed-hosts.ts'
import {
  claudeRun,
  inspectorRun,
  pythonClientRun,
  pythonQuestionRun,
  pythonServerRun,
  type Result,
} from './mcp-programs.ts'
import {
  type ModelServer,
  type ScriptedAnswer,
  type SeenRequest,
  startModelServer,
} from './model-server.ts'
import { runServedClient } from './served-clients.ts'
import { type RunningServer, startProxy } from './weir-process.ts'

type Case = { program: string; front: string; title: string; run(): Promise<Result> }

/** The program of a host, its shell tool, and the way to run it. */
type Tested = {
  host: Host
  version: string
  tool: string
  argument: string
  start(folder: HostFolder, url: string): Promise<HostEnded>
  reply(ended: HostEnded): string
}

const { values } = parseArgs({
  options: { only: { type: 'string' }, write: { type: 'boolean', default: false } },
})
/** At the first case that needs them. */
let hostsThere: ReturnType<typeof installedHosts> | undefined
function installed(): ReturnType<typeof installedHosts> {
  hostsThere ??= installedHosts()
  return hostsThere
}

const claude: Tested = {
  host: claudeCode,
  version: hostPackages['@anthropic-ai/claude-code'],
  ...{ tool: 'Bash', argument: 'command', reply: replyOfClaudeCode },
  start: async (folder, url) =>
    startClaudeCode(folder, { program: (await installed()).claude, url }).ended,
}
const codexCli: Tested = {
  host: codex,
  version: hostPackages['@openai/codex'],
  ...{ tool: 'exec_command', argument: 'cmd', reply: replyOfCodex },
  start: async (folder, url) =>
    (await startCodex(folder, { program: (await installed()).codex, url: `${url}/v1` })).ended,
}

/** A loop of the model ends by itself behind this many rounds. */
const rounds = 25

type Loop = (tested: Tested, number: number) => ScriptedAnswer

const command = ({ tool, argument }: Tested, text: string): ScriptedAnswer => ({
  calls: [{ name: tool, input: JSON.stringify({ [argument]: text }) }],
})
const incidents: Record<string, { loop: Loop; requestsMax: number }> = {
  'I1, a call without its argument': {
    loop: ({ tool }) => ({ calls: [{ name: tool, input: '{}' }] }),
    requestsMax: 5,
  },
  // The rule identical-success counts to five.
  'I3, a call that succeeds again and again': {
    loop: (tested) => command(tested, 'echo same'),
    requestsMax: 7,
  },
  'I4, a failing call between thoughts': {
    loop: (tested) => ({ thinking: 'I try again.', ...command(tested, 'cat missing') }),
    requestsMax: 7,
  },
}

/** Without a tool to choose it answers in text, as every provider guarantees. */
function forbidsCalls({ body }: SeenRequest): boolean {
  const choice = body.tool_choice
  return choice === 'none' || (choice as { type?: string } | undefined)?.type === 'none'
}

/** A model that obeys the second text of Weir. No provider enforces it for hooks. */
function isToldTwice({ body }: SeenRequest): boolean {
  return JSON.stringify(body).split('SYSTEM INTERVENTION').length > 2
}

const finalText = 'I could not do the task.'

async function loopingModel(
  tested: Tested,
  loop: Loop,
  obeys: (request: SeenRequest) => boolean,
): Promise<ModelServer> {
  return startModelServer((request, number) =>
    number > rounds || forbidsCalls(request) || obeys(request)
      ? { text: finalText }
      : loop(tested, number),
  )
}

async function installHooks({ host, version }: Tested, folder: HostFolder, url: string) {
  const places = { home: folder.home, folder: folder.work, environment: {} }
  const file = host.settingsFile('user', places)
  await mkdir(join(file, '..'), { recursive: true })
  const entries = host.entries((kind) => `${url}/v1/hooks/${host.name}/${kind}`, version)
  await writeFile(file, withHooks('', entries, file))
}

type Setting = { model: ModelServer; weir: RunningServer; folder: HostFolder }

/** Opens a model, Weir and a folder, and closes all three. */
async function within(
  model: Promise<ModelServer>,
  run: (setting: Setting) => Promise<Result>,
): Promise<Result> {
  const opened = await model
  try {
    const weir = await startProxy(opened.url)
    const folder = await openHostFolder()
    try {
      return await run({ model: opened, weir, folder })
    } finally {
      await folder.close()
      await weir.close()
    }
  } finally {
    await opened.close()
  }
}

function incidentCase(
  tested: Tested,
  front: 'proxy' | 'hooks' | 'proxy and hooks',
  name: string,
  endsItself = false,
): Case {
  const { loop, requestsMax } = incidents[name] as { loop: Loop; requestsMax: number }
  const obeys = front === 'hooks' && !endsItself ? isToldTwice : () => false
  return {
    program: nameOf(tested),
    front,
    title: endsItself ? `${name}, and the model obeys no text` : name,
    run: () =>
      within(loopingModel(tested, loop, obeys), async ({ model, weir, folder }) => {
        if (front !== 'proxy') await installHooks(tested, folder, weir.url)
        const ended = await tested.start(folder, front === 'hooks' ? model.url : weir.url)
        const text = tested.reply(ended)
        const requests = model.requests.length
        return {
          found: `${requests} requests${text === '' ? ', no text' : ''}`,
          fault:
            requests > requestsMax
              ? `more than ${requestsMax} requests`
              : text === '' && !endsItself
                ? 'the turn did not end in text'
                : undefined,
        }
      }),
  }
}

function nameOf({ host, version }: Tested): string {
  return `${host.title} ${version}`
}

/** The text of the last tool result that the model has read. */
const readByModel = ({ requests }: ModelServer) => JSON.stringify(requests.at(-1)?.body ?? {})

/** The same loop without Weir. */
function baselineCase(tested: Tested, name: string): Case {
  const { loop } = incidents[name] as { loop: Loop }
  return {
    program: nameOf(tested),
    front: 'none',
    title: name,
    run: async () => {
      const model = await loopingModel(tested, loop, () => false)
      const folder = await openHostFolder()
      try {
        await tested.start(folder, model.url)
        const requests = model.requests.length
        return {
          found: `${requests} requests`,
          fault: requests <= rounds ? 'the host ended the loop itself' : undefined,
        }
      } finally {
        await folder.close()
        await model.close()
      }
    },
  }
}

function guardCase(tested: Tested, front: 'hooks' | 'proxy and hooks'): Case {
  return {
    program: nameOf(tested),
    front,
    title: "an enforcing guard refuses a call of the host's own shell tool",
    run: () =>
      within(
        startModelServer((_, number) =>
          number === 1
            ? command(tested, 'touch forbidden')
            : number === 2
              ? command(tested, 'touch allowed')
              : { text: finalText },
        ),
        async ({ model, weir, folder }) => {
          const guard = join(import.meta.dirname, 'guards', 'forbidden.mjs')
          await weir.start(
            'starting',
            'guard',
            'run',
            guard,
            '--mode',
            'enforce',
            '--log-level',
            'info',
          )
          await installHooks(tested, folder, weir.url)
          await tested.start(folder, front === 'hooks' ? model.url : weir.url)
          const ran = (name: string) => existsSync(join(folder.work, name))
          const isTold = readByModel(model).includes('Leave that file alone.')
          return {
            found: `refused: ${!ran('forbidden')}, the model has the reason: ${isTold}, another call runs: ${ran('allowed')}`,
            fault:
              ran('forbidden') || !isTold || !ran('allowed')
                ? 'the guard did not decide'
                : undefined,
          }
        },
      ),
  }
}

function approvalCase(tested: Tested, decision: 'approve' | 'reject'): Case {
  return {
    program: nameOf(tested),
    front: 'hooks',
    title: `a person ${decision === 'approve' ? 'approves' : 'rejects'} a waiting call`,
    run: () =>
      within(
        startModelServer((_, number) =>
          number === 1 ? command(tested, 'touch approved') : { text: finalText },
        ),
        async ({ model, weir, folder }) => {
          const rules = join(weir.folder, 'rules.json')
          const rule = { name: 'shell', tools: [tested.tool, 'Bash'] }
          await writeFile(rules, JSON.stringify({ rules: [rule], waitMs: 60_000 }))
          await weir.weir('approvals', 'rules', rules)
          await installHooks(tested, folder, weir.url)
          const ended = tested.start(folder, model.url)
          const id = await waitingCall(weir)
          const file = join(folder.work, 'approved')
          const waited = !existsSync(file)
          const reason = decision === 'reject' ? ['--reason', 'Not today.'] : []
          await weir.weir(decision, id, ...reason)
          await ended
          const ran = existsSync(file)
          const isTold = readByModel(model).includes('Not today.')
          return {
            found: `waited: ${waited}, ran: ${ran}${decision === 'reject' ? `, the model has the reason: ${isTold}` : ''}`,
            fault:
              !waited || ran !== (decision === 'approve') || isTold !== (decision === 'reject')
                ? 'the person did not decide'
                : undefined,
          }
        },
      ),
  }
}

async function waitingCall(weir: RunningServer): Promise<string> {
  for (let tries = 0; tries < 100; tries += 1) {
    const lines = (await weir.weir('approvals', 'list', '--json')).split('\n').filter(Boolean)
    for (const line of lines) {
      const { id } = JSON.parse(line) as { id?: string }
      if (id !== undefined) return id
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error('no call waits')
}

/** Weir dies while the model answers its third request. */
function killCase(tested: Tested): Case {
  return {
    program: nameOf(tested),
    front: 'hooks',
    title: 'kill -9 of Weir in the middle of a turn',
    run: async () => {
      let kill = () => {}
      const model = startModelServer((_, number) => {
        if (number === 3) kill()
        return number > 8 ? { text: finalText } : command(tested, `touch run-${number}`)
      })
      return within(model, async ({ model, weir, folder }) => {
        await installHooks(tested, folder, weir.url)
        kill = () => weir.child.kill('SIGKILL')
        await tested.start(folder, model.url)
        const ran = [1, 2, 3, 4, 5, 6, 7, 8].filter((n) =>
          existsSync(join(folder.work, `run-${n}`)),
        )
        return {
          found: `calls before the kill: 2, calls that ran: ${ran.length}`,
          fault: ran.join() === '1,2' ? undefined : `calls ${ran.join(', ')} ran`,
        }
      })
    },
  }
}

const pythonPrograms = {
  openai_loop: 'openai',
  langgraph_agent: 'langgraph',
  pydantic_ai_agent: 'pydantic-ai-slim[openai]',
  openai_agents_agent: 'openai-agents',
} as const

const noPython: Result = { found: 'left out: no Python 3 with venv' }

function pythonCase(file: keyof typeof pythonPrograms): Case {
  const name = pythonPrograms[file]
  const tested = { ...codexCli, tool: 'exec', argument: 'command' }
  const loop: Loop = () => ({ calls: [{ name: 'exec', input: '{}' }] })
  return {
    program: `${name} ${pythonPackages[name]} (Python)`,
    front: 'proxy',
    title: 'I1, a call without its argument',
    run: () =>
      within(
        loopingModel(tested, loop, () => false),
        async ({ model, weir, folder }) => {
          const interpreter = await installedPython()
          if (interpreter === undefined) return noPython
          const script = join(import.meta.dirname, 'python', `${file}.py`)
          const run = folder.start(interpreter, ['-W', 'ignore', script, `${weir.url}/v1`], {})
          const { out, errors } = await run.ended
          const requests = model.requests.length
          const text = out.trim()
          return {
            found: `${requests} requests${text === '' ? ', no text' : ''}`,
            fault:
              requests > 5 ? 'more than 5 requests' : text === '' ? errors.slice(-500) : undefined,
          }
        },
      ),
  }
}

function servedCase(
  program: string,
  file: string,
  packages: Record<string, string> = pythonPackages,
): Case {
  return {
    program: `${program} (Python)`,
    front: 'weir serve',
    title: 'a client of the HTTP server',
    run: async () => {
      const interpreter = await installedPython(packages)
      return interpreter === undefined ? noPython : runServedClient(interpreter, file)
    },
  }
}

const hosts = [claude, codexCli]
const [i1, i3] = Object.keys(incidents) as [string, string]
const cases: Case[] = [
  ...hosts.flatMap((tested) => [
    ...[i1, i3].map((name) => baselineCase(tested, name)),
    ...Object.keys(incidents).map((name) => incidentCase(tested, 'proxy', name)),
    ...Object.keys(incidents)
      // No hook of Codex shows a call that breaks a schema.
      .filter((name) => tested === claude || name !== i1)
      .map((name) => incidentCase(tested, 'hooks', name)),
    ...[i1, i3].map((name) => incidentCase(tested, 'proxy and hooks', name)),
    guardCase(tested, 'hooks'),
    guardCase(tested, 'proxy and hooks'),
    approvalCase(tested, 'approve'),
    approvalCase(tested, 'reject'),
    killCase(tested),
  ]),
  incidentCase(claude, 'hooks', i1, true),
  ...Object.keys(pythonPrograms).map((file) => pythonCase(file as keyof typeof pythonPrograms)),
  servedCase(`openai ${pythonPackages.openai}`, 'served_openai'),
  servedCase(`litellm ${litellmPackages.litellm}`, 'served_litellm', litellmPackages),
  ...[false, true].flatMap((isHttp): Case[] => {
    const front = isHttp ? 'weir mcp over HTTP' : 'weir mcp'
    return [
      {
        ...{ program: nameOf(claude), front },
        ...{ title: 'I1, a call without its argument', run: () => claudeRun(isHttp) },
      },
      {
        ...{ program: `MCP inspector ${inspectorVersion} --cli`, front },
        ...{ title: 'a client of the gateway', run: () => inspectorRun(isHttp) },
      },
      {
        ...{ program: `mcp ${mcpPackages.mcp} (Python)`, front },
        ...{ title: 'a client of the gateway', run: () => pythonClientRun(isHttp) },
      },
    ]
  }),
  {
    ...{ program: `mcp ${mcpPackages.mcp} (Python)`, front: 'weir mcp' },
    ...{ title: 'the server behind the gateway', run: pythonServerRun },
  },
  {
    ...{ program: `mcp ${mcpPackages.mcp} (Python)`, front: 'an agent' },
    ...{ title: 'a question of the server to a person', run: pythonQuestionRun },
  },
]

const rows: string[] = []
let faults = 0
for (const one of cases) {
  const name = `${one.program}, ${one.front}: ${one.title}`
  if (values.only !== undefined && !name.includes(values.only)) continue
  const { found, fault } = await one
    .run()
    .catch((error: unknown): Result => ({ found: 'failed', fault: String(error) }))
  if (fault !== undefined) faults += 1
  process.stdout.write(
    `${fault === undefined ? 'ok  ' : 'FAIL'} ${name}: ${found}${fault === undefined ? '' : ` (${fault})`}\n`,
  )
  rows.push(`| ${one.program} | ${one.front} | ${one.title} | ${found} |`)
}
if (values.write && faults === 0 && values.only === undefined) await writeResults(rows)
process.exitCode = faults === 0 ? 0 : 1

async function writeResults(results: string[]): Promise<void> {
  const file = join(import.meta.dirname, '..', '..', 'docs', 'internals', 'hosts.md')
  const page = await readFile(file, 'utf8')
  const head = '| program | front | case | found |\n|---|---|---|---|\n'
  const table = /\| program \| front \|[^\n]*\n(\|[^\n]*\n)*/
  await writeFile(
    file,
    page.replace(table, () => `${head}${results.join('\n')}\n`),
  )
}
