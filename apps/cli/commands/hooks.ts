// weir hooks: the hooks of other agent programs.

import { homedir } from 'node:os'
import type { Command } from 'commander'
import type { HooksContext } from '../../http/hosts/hooks-command.ts'
import { answers } from '../../terminal/text/ending.ts'

export function addHooks(program: Command): void {
  const hooks = program.command('hooks')

  hosted(answers(hooks.command('install'), { yes: 'installed', no: 'not accepted' }))
    .description("Add Weir's hooks to a host's settings. Shows the change first.")
    .option('--url <url>', 'where weir proxy listens', 'http://127.0.0.1:4141')
    .option('--agent <name>', 'the name of the guest in the log (default: that of the host)')
    .option('--yes', 'write the change without a question')
    .action(async (host, options) => {
      process.exitCode = await (await commands()).installHooks(host, options, context())
    })

  hosted(
    answers(hooks.command('status'), {
      yes: 'installed',
      no: 'not installed, or to be installed again',
    }),
  )
    .description(
      "Show a host's hooks for Weir, and the calls that they cannot protect. Or show a host's plug-in, also without hooks, such as opencode.",
    )
    .action(async (host, options) => {
      process.exitCode = await (await commands()).showHooks(host, options, context())
    })

  hooks
    .command('start')
    .description(
      "Start a server for hooks in the background, if none answers. Hosts' plug-ins call this command.",
    )
    .option('--url <url>', 'where it listens, on this machine', 'http://127.0.0.1:4141')
    .option(
      '--data-folder <folder>',
      'the folder of its log (default: weir/hooks in the folder of the user state)',
    )
    .action(async (options) => {
      const { startFront } = await import('../../http/hosts/start-front.ts')
      process.exitCode = await startFront(options, process.stdout)
    })

  hosted(answers(hooks.command('remove'), { yes: 'removed', no: 'not accepted' }))
    .description("Remove Weir's hooks from a host's settings. Keeps everything else.")
    .option('--yes', 'write the change without a question')
    .action(async (host, options) => {
      process.exitCode = await (await commands()).removeHooks(host, options, context())
    })
}

function hosted(command: Command): Command {
  return command
    .argument('<host>', 'claude-code, codex, gemini-cli or copilot')
    .option('--project', 'the settings of this folder instead of those of the user')
    .option('--program <path>', "the host's program, if it is not on the path")
}

const commands = () => import('../../http/hosts/hooks-command.ts')

function context(): HooksContext {
  return {
    home: homedir(),
    folder: process.cwd(),
    environment: process.env,
    input: process.stdin,
    out: process.stdout,
    errors: process.stderr,
  }
}
