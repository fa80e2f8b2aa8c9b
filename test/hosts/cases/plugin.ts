// The plug-ins of this repository, installed by the hosts' own commands. Nothing of Weir runs before the
// first prompt.

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePorts } from '../../chaos/free-ports.ts'
import type { HostEnded, HostFolder } from '../host-run.ts'
import { installed } from '../installed-hosts.ts'
import type { SeenRequest } from '../model-server.ts'
import {
  command,
  nameOf,
  type Plugin,
  type Program,
  placeFiles,
  prompt,
} from '../programs/program.ts'
import { messagesOf } from '../transcript.ts'
import { type Case, isToldTwice, type Result, type ScriptIn, within } from './case.ts'
import { untilWaiting } from './control.ts'
import {
  bareCall,
  finalText,
  type Incident,
  lastAnswer,
  loopScript,
  sameSuccess,
} from './incidents.ts'

const weir = join(import.meta.dirname, '..', '..', '..', 'bin', 'weir')

/** Two calls in turns, for a host that ends a run after a few equal calls itself. */
const callsInTurns: Incident = {
  title: 'I3, two calls in turns',
  loop: (program, number) => ({ calls: [command(program, `echo ${number % 2}`)] }),
  requestsMax: 12,
}

const loopOf = ({ endsPolls }: Program) => (endsPolls === true ? callsInTurns : sameSuccess)

/** The requests of a model that obeys no text, with those that Weir's advice needs. */
const obstinateMax = 12

/** Of a host with a plug-in. */
export function pluginCases(program: Program): Case[] {
  const { plugin } = program
  if (plugin === undefined || typeof plugin === 'string') return []
  const shown = { program: nameOf(program), worksWith: program, front: 'plug-in' }
  return [
    {
      ...shown,
      title: 'the plug-in starts Weir, which ends a loop, and its removal leaves no hook',
      run: () =>
        withPlugin(program, plugin, loopScript(program, loopOf(program), isToldTwice), endsLoop),
    },
    ...(plugin.endsTurns === true
      ? [
          {
            ...shown,
            title: 'the turn of a model that obeys no text ends, and its user reads the reason',
            run: () =>
              withPlugin(
                program,
                plugin,
                loopScript(program, loopOf(program), () => false),
                endsTurn,
              ),
          },
        ]
      : []),
    ...(plugin.seesRefusals === true
      ? [
          {
            ...shown,
            title: 'a loop of calls that the host itself refuses ends',
            run: () =>
              withPlugin(
                program,
                plugin,
                loopScript(program, bareCall, () => false),
                endsTurn,
              ),
          },
        ]
      : []),
    {
      ...shown,
      title: 'a call waits for a person, and runs once it is allowed',
      run: () => withPlugin(program, plugin, oneCallEach(program).script, afterApproval),
    },
    {
      ...shown,
      title:
        plugin.open === undefined
          ? 'no call runs if Weir cannot start'
          : 'a call runs if Weir cannot start, as the table says',
      run: () => {
        const { script, again } = oneCallEach(program)
        return withPlugin(program, plugin, script, (host) => withoutWeir(host, again))
      },
    },
  ]
}

type Installed = {
  program: Program
  plugin: Plugin
  folder: HostFolder
  /** The requests until now. */
  requests(): number
  prompt(weirCommand: string): Promise<HostEnded>
  uninstall(): Promise<void>
  /** A command of Weir of the same user. `args`: without the folder of the log. */
  weir(...args: string[]): Promise<string>
}

async function withPlugin(
  program: Program,
  plugin: Plugin,
  script: ScriptIn,
  check: (installed: Installed) => Promise<Result>,
): Promise<Result> {
  return within({ program, front: 'none', script }, async ({ model, folder, url }) => {
    const place = { url, home: folder.home, work: folder.work }
    await placeFiles(program, place)
    const host = await installed(program.package)
    // The hooks of Claude Code and Codex name their port. The other plug-ins read this one.
    const [port] = await freePorts(1)
    const run = (args: readonly string[], weirCommand: string) => {
      const environment = {
        ...program.environment?.(place),
        WEIR_COMMAND: weirCommand,
        WEIR_URL: `http://127.0.0.1:${port}`,
      }
      return folder.start(host, [...args], environment).ended
    }
    try {
      if (program.setup !== undefined) await run(program.setup(place), weir)
      for (const args of plugin.install) {
        const { code, out, errors } = await run(args, weir)
        if (code !== 0) return { found: args.join(' '), fault: `${out}${errors}`.slice(-300) }
      }
      return await check({
        program,
        plugin,
        folder,
        requests: () => model.requests.length,
        prompt: (weirCommand) => run(program.args(prompt, place, []), weirCommand),
        async uninstall() {
          const { uninstall } = plugin
          if (typeof uninstall === 'function') return uninstall(folder.home)
          for (const args of uninstall) await run(args, weir)
        },
        async weir(...args) {
          const log = ['--data-folder', join(folder.home, '.local', 'state', 'weir', 'hooks')]
          const { code, out, errors } = await folder.start(weir, [...args, ...log], {}).ended
          if (code !== 0) throw new Error(`weir ${args[0]}: ${errors}${out}`)
          return out
        },
      })
    } finally {
      endServer(folder.home)
    }
  })
}

async function endsLoop({ plugin, folder, ...host }: Installed): Promise<Result> {
  await host.prompt(weir)
  const requests = host.requests()
  await host.uninstall()
  endServer(folder.home) // a hook that is left would refuse the next prompt
  const { out, errors } = await host.prompt('false')
  const after = host.requests() - requests
  const { file, names } = plugin.settings
  const settings = contentOf(join(folder.home, file))
  const isEnded = requests > 0 && requests <= loopOf(host.program).requestsMax
  const isGone = !settings.includes(names) && after > 0
  return {
    found: `${requests} requests with it, ${after} after its removal`,
    fault: isEnded && isGone ? undefined : `${settings.slice(0, 200)} ${out}${errors}`.slice(-400),
  }
}

/** Of a folder: the names in it. */
function contentOf(path: string): string {
  if (!existsSync(path)) return ''
  if (!statSync(path).isDirectory()) return readFileSync(path, 'utf8')
  return readdirSync(path, { recursive: true }).join('\n')
}

async function endsTurn({ requests, prompt }: Installed): Promise<Result> {
  const { out, errors } = await prompt(weir)
  const isShown = /Weir ended (the|this) turn/.test(`${out}${errors}`)
  const found = `${requests()} requests, the reason ${isShown ? 'shown' : 'not shown'}`
  const isEnded = requests() > 0 && requests() <= obstinateMax
  return { found, fault: isEnded && isShown ? undefined : `${out}${errors}`.slice(-600) }
}

async function afterApproval({ program, folder, ...host }: Installed): Promise<Result> {
  const rule = { name: 'shell', tools: [program.shell.name, 'Bash'] }
  const rules = join(folder.home, 'rules.json')
  writeFileSync(rules, JSON.stringify({ rules: [rule], waitMs: 60_000 }))
  await host.weir('approvals', 'rules', rules)
  const file = join(folder.work, 'ran')
  const ended = host.prompt(weir)
  const id = await untilWaiting(host.weir)
  const waited = !existsSync(file)
  await host.weir('allow', id)
  const { out, errors } = await ended
  const ran = existsSync(file)
  return {
    found: `waited: ${waited}, ran: ${ran}`,
    fault: waited && ran ? undefined : `${out}${errors}`.slice(-400),
  }
}

/** The first answer to each prompt is a call that leaves a file. */
function oneCallEach(program: Program): { script: ScriptIn; again(): void } {
  let mayCall = true
  return {
    script: (work) => (request) => {
      const calls =
        mayCall || isToRepeat(request) ? [command(program, `touch ${join(work, 'ran')}`)] : []
      mayCall = false
      return calls.length > 0 ? { calls } : lastAnswer(program, finalText, true)
    },
    again() {
      mayCall = true
    },
  }
}

/** A host may give its hooks too little time for a person. */
function isToRepeat(request: SeenRequest): boolean {
  return JSON.stringify(messagesOf(request).at(-1)).includes('make exactly this call again')
}

async function withoutWeir(
  { plugin, folder, ...host }: Installed,
  again: () => void,
): Promise<Result> {
  const hasRun = () => existsSync(join(folder.work, 'ran'))
  const { out, errors } = await host.prompt('false')
  const found = `${host.requests()} requests, the call ${hasRun() ? 'ran' : 'did not run'}`
  if (hasRun() !== (plugin.open !== undefined))
    return { found, fault: `${out}${errors}`.slice(-400) }
  // The plug-in alone stopped the call: without the plug-in the same call runs.
  await host.uninstall()
  again()
  await host.prompt('false')
  return { found, fault: hasRun() ? undefined : 'the call does not run without the plug-in either' }
}

/** Of the home folder's user: the plug-in leaves it running for the next session. */
function endServer(home: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    if (commandLineOf(pid).includes(join(home, '.local', 'state', 'weir', 'hooks')))
      execFileSync('kill', ['-9', pid])
}

function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
