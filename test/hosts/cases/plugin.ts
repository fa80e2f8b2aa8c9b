// The plug-ins of this repository, installed by the hosts' own commands. Nothing of Weir runs before the
// first prompt.

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HostFolder } from '../host-run.ts'
import { installed } from '../installed-hosts.ts'
import { nameOf, type Program, placeFiles, prompt } from '../programs/program.ts'
import { claudeCode, codex } from '../programs/terminal-agents.ts'
import { type Case, isToldTwice, type Result, within } from './case.ts'
import { loopScript, sameSuccess } from './incidents.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const weir = join(root, 'bin', 'weir')

type Commands = { install: string[][]; uninstall: string[][]; settings: string }

const commandsOf = new Map<Program, Commands>([
  [
    claudeCode,
    {
      install: [
        ['plugin', 'marketplace', 'add', root],
        ['plugin', 'install', 'weir@weir'],
      ],
      uninstall: [
        ['plugin', 'uninstall', 'weir@weir'],
        ['plugin', 'marketplace', 'remove', 'weir'],
      ],
      settings: '.claude/settings.json',
    },
  ],
  [
    codex,
    {
      install: [
        ['plugin', 'marketplace', 'add', root],
        ['plugin', 'add', 'weir@weir'],
      ],
      uninstall: [
        ['plugin', 'remove', 'weir@weir'],
        ['plugin', 'marketplace', 'remove', 'weir'],
      ],
      settings: '.codex/config.toml',
    },
  ],
])

export function pluginCase(program: Program): Case {
  return {
    program: nameOf(program),
    front: 'plug-in',
    title: 'the plug-in starts Weir, which ends a loop, and its removal leaves no hook',
    run: () => {
      const script = loopScript(program, sameSuccess, isToldTwice)
      return within({ program, front: 'none', script }, async ({ model, folder, url }) => {
        try {
          return await runIn(program, folder, { url, model: () => model.requests.length })
        } finally {
          endServer(folder.home)
        }
      })
    },
  }
}

async function runIn(
  program: Program,
  folder: HostFolder,
  { url, model }: { url: string; model: () => number },
): Promise<Result> {
  const commands = commandsOf.get(program)
  if (commands === undefined) throw new Error(`${program.title} has no plug-in`)
  const place = { url, home: folder.home, work: folder.work }
  const environment = { ...program.environment?.(place), WEIR_COMMAND: weir }
  await placeFiles(program, place)
  const host = await installed(program.package)
  const run = (args: string[]) => folder.start(host, args, environment).ended
  for (const args of commands.install) {
    const { code, out, errors } = await run(args)
    if (code !== 0) return { found: args.join(' '), fault: `${out}${errors}`.slice(-300) }
  }
  await run(program.args(prompt, place, []))
  const requests = model()
  for (const args of commands.uninstall) await run(args)
  endServer(folder.home) // a hook that is left would refuse the next prompt
  await run(program.args(prompt, place, []))
  const after = model() - requests
  const settings = readFileSync(join(folder.home, commands.settings), 'utf8')
  const isGone = !settings.includes('weir@weir') && after > 0
  return {
    found: `${requests} requests with it, ${after} after its removal`,
    fault:
      requests > 0 && requests <= sameSuccess.requestsMax && isGone
        ? undefined
        : `settings: ${settings.slice(0, 200)}`,
  }
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
