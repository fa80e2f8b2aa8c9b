// The list of commands: their groups, their descriptions, and the files that add them. A command's file
// loads when the command is named, to keep `weir --help` and every command fast.
// COMMAND-LIST-1. A part lists exactly the commands that its file adds, and the order is that of the help.

import type { Command } from 'commander'

/** `load` gives the function that adds the commands of this part to the program. */
type Part = {
  load: () => Promise<(program: Command) => void>
  commands: Record<string, string>
}

const part = (load: Part['load'], commands: Part['commands']): Part => ({ load, commands })

/** By the heading of their group. */
const commandList: Readonly<Record<string, readonly Part[]>> = {
  'Talk to an agent:': [
    part(async () => (await import('./commands/demo.ts')).addDemo, {
      demo: 'Play incident I1 three times: through a plain loop, through Weir, and through the plain loop at its proxy. Needs no key and no broker. On Kafka, it plays the first two, with the stages that run there. Keeps its log only if --data-folder names a new folder.',
      'demo-model':
        'Serve the model of the demo until Ctrl-C. Try weir ask without a key, or with stages that run elsewhere.',
    }),
    part(async () => (await import('./commands/talk.ts')).addTalk, {
      ask: 'Send one message to an agent. Shows the turn on stderr and prints the reply on stdout. Exit codes: 0 a reply, 3 the fallback.',
      chat: 'Talk to an agent in the terminal. In piped input, each line is a message.',
      fork: 'Begin a new conversation that continues another one from a turn on, and print its id.',
      title: 'Give a conversation a title for lists, the console and the search.',
    }),
  ],
  'Guard an agent that runs elsewhere:': [
    part(async () => (await import('./commands/proxy.ts')).addProxy, {
      proxy:
        'Guard agents that call their model through this proxy, until SIGTERM or SIGINT. An agent changes its base URL only. Without --data-folder the log is in memory.',
    }),
    part(async () => (await import('./commands/mcp.ts')).addMcp, {
      mcp: 'Guard the calls of MCP servers: a host starts this command in place of a server. Without --data-folder the log is in memory.',
    }),
    part(async () => (await import('./commands/hooks.ts')).addHooks, {
      hooks:
        'Let Weir judge the tool calls of Claude Code, Codex, Gemini CLI and Copilot CLI, in their own hooks.',
    }),
  ],
  'Read the log:': [
    part(async () => (await import('./commands/log/history.ts')).addHistory, {
      inspect:
        'Show a conversation: rounds, calls, verdicts, results, times. Works beside a running Weir.',
      report:
        'Write a conversation as one page for a browser, without other files. Without a conversation: the newest ones, with an index.',
      conversations:
        'List the latest active conversations: questions, turns, tokens, money, their ends and notable facts.',
      tail: 'Print the records of a topic, decoded, one JSON object per line; see apps/history/tail/record-line.ts.',
    }),
    part(async () => (await import('./commands/log/audit.ts')).addAudit, {
      audit:
        'List the decisions of people, with the questions and the ends of the calls, and the changes of operators.',
    }),
    part(async () => (await import('./commands/log/traces.ts')).addTraces, {
      traces:
        'Send turns as OpenTelemetry traces: those since a time, then the new ones, until a signal.',
    }),
  ],
  'Bundles and replay, offline:': [
    part(async () => (await import('./commands/log/bundles.ts')).addBundles, {
      export:
        'Write conversations to one file, to keep, mail, inspect and replay. Exports whole turns with all their records. Works beside a running Weir.',
      import: 'Restore a bundle into a new data folder: the same log, with its offsets and times.',
      'import-transcript':
        'Convert conversations of another runtime to a bundle, to inspect, judge and replay. Shows what Weir would have done.',
    }),
    part(async () => (await import('./commands/judging.ts')).addJudging, {
      scan: 'Find the loops in the sessions that coding agents have stored on this machine. Nothing leaves the machine. Only --html and --github write a file.',
      normalize: 'Show the parts and calls that Weir reads from recorded streams, offline.',
      judge:
        'Run scenarios or conversations through validator and loop-detector, offline. Reads a bundle, or the output of weir inspect --json.',
      replay:
        "Recompute every stage's decisions from the log or a bundle, and compare them with the recorded ones. With --set, --policy, --guard or --sweep: show the decisions that would have differed.",
    }),
  ],
  'Run stages:': [
    part(async () => (await import('./commands/up.ts')).addUp, {
      up: 'Run stages until SIGTERM or SIGINT: all of them, or some on Kafka. Serves health and metrics on its own port.',
    }),
    part(async () => (await import('./commands/serve.ts')).addServe, {
      serve:
        'Serve agents over HTTP until SIGTERM or SIGINT: those of a module, or of agent files. On a data folder it runs the stages if no other process does; on Kafka they run elsewhere. Without agents it serves the history and the controls of the log.',
    }),
    part(async () => (await import('./commands/console.ts')).addConsole, {
      console:
        'Print the address of the console of a running weir serve or weir up --http-port, and open it in a browser with --open. If no server answers, serve the history and the controls of the log.',
    }),
    part(async () => (await import('./commands/serve.ts')).addApiKeys, {
      'api-keys': 'Create, list, rotate and remove the API keys of clients of weir serve.',
    }),
    part(async () => (await import('./commands/log/backup.ts')).addBackup, {
      backup: 'Copy the log of a data folder to one file. Works beside a running Weir.',
      restore:
        'Make the log of a new data folder from a backup. Conversations go on there, calls that wait for a person still wait, and other open messages end.',
    }),
    part(async () => (await import('./commands/log/topics.ts')).addTopics, {
      topics: 'Plan, create and check the topics that Weir needs on Kafka.',
    }),
    part(async () => (await import('./commands/operator/fleet.ts')).addFleet, {
      fleet:
        'Show the processes of a fleet on Kafka with their versions and record formats, and pin a format.',
    }),
    part(async () => (await import('./commands/operator/keys.ts')).addKeys, {
      keys: 'Create the keys of signed records on Kafka, and of encrypted ones.',
    }),
    part(async () => (await import('./commands/log/reset.ts')).addReset, {
      reset:
        "Find commits that are outside their log on Kafka, and repair them. The stage then goes on at the partition's end.",
    }),
    part(async () => (await import('./commands/log/dead-letters.ts')).addDeadLetters, {
      'dead-letters': 'List, show and retry the records that a stage could not process.',
    }),
    part(async () => (await import('./commands/log/forget.ts')).addForget, {
      forget:
        'Delete conversations for good, with every record and copy that Weir has of them. Works beside a running Weir.',
    }),
  ],
  'Control tool calls:': [
    part(async () => (await import('./commands/operator/guard.ts')).addGuard, {
      guard: 'Run and manage guards: services that judge calls before they run, with a veto.',
    }),
    part(async () => (await import('./commands/operator/approvals.ts')).addApprovals, {
      approvals: 'List the calls that wait for a person, and the rules that make calls wait.',
      allow:
        'Let a waiting call run, with exactly the arguments shown, or answer the question of its tool. Exit codes: 0 your decision counts, 4 somebody decided earlier.',
      deny: 'Deny a waiting call, or decline the question of its tool. Exit codes: 0 your decision counts, 4 somebody decided earlier.',
    }),
    part(async () => (await import('./commands/operator/policy.ts')).addPolicy, {
      policy:
        "Set thresholds, caps and rule modes over those of agent files, effective from the next model response. AGENT is a name, or '*' for all.",
    }),
    part(async () => (await import('./commands/operator/stops.ts')).addStops, {
      stop: 'Stop agents, tenants, tools or a conversation until weir release. It counts within a second, without a restart.',
      stops: 'List the stops in force: id, mode, time, author and reason.',
      release: 'Release a stop. New questions run again, and turns that have ended stay ended.',
    }),
    part(async () => (await import('./commands/operator/budgets.ts')).addBudgets, {
      budget: 'Limit tokens and money of tenants, agents and conversations.',
    }),
  ],
  'Set up and check:': [
    part(async () => (await import('./commands/setup.ts')).addSetup, {
      init: 'Write a starter agent file and tools, or a project. Keeps existing files.',
      settings: 'Show every setting: its value, the origin of the value, its meaning.',
      doctor: 'Check this machine for problems and print the fixes.',
    }),
  ],
}

export const programText = 'A low wall across a river: guards the tool calls of LLM agents.'

type Item = readonly [term: string, description: string]

export const versionOption: Item = ['-V, --version', 'print the version of Weir']
/** Commander adds the second one, and in the help the command below. */
export const programOptions: readonly Item[] = [
  versionOption,
  ['-h, --help', 'display help for command'],
]
const helpCommand: Item = ['help [command]', 'display help for command']

/** The groups of the help of weir, with the command `help` in the last one. */
export function commandGroups(): { heading: string; items: Item[] }[] {
  const groups = Object.entries(commandList).map(([heading, parts]) => ({
    heading,
    items: parts.flatMap(({ commands }): Item[] => Object.entries(commands)),
  }))
  groups.at(-1)?.items.push(helpCommand)
  return groups
}

/** Adds all commands. Those beside the named one get a name and a description only. */
export async function addCommands(program: Command, words: readonly string[]): Promise<void> {
  const named = namedIn(words)
  for (const [heading, parts] of Object.entries(commandList)) {
    program.commandsGroup(heading)
    for (const { load, commands } of parts) {
      if (named !== undefined && Object.hasOwn(commands, named)) (await load())(program)
      else for (const name of Object.keys(commands)) program.command(name)
      for (const [name, description] of Object.entries(commands))
        program.commands.find((one) => one.name() === name)?.description(description)
    }
  }
}

/** The command that the words run, or whose help they show. */
function namedIn(words: readonly string[]): string | undefined {
  const [first, second] = words.filter((word) => !word.startsWith('-'))
  return first === 'help' ? second : first
}
