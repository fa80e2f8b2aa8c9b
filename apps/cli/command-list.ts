// The list of commands: their groups, their descriptions, and the files that add them. A command's file
// loads when the command is named, to keep `weir --help` and every command fast.
// COMMAND-LIST-1. A part lists exactly the commands that its file adds, and the order is that of the help.

import type { Command } from 'commander'
import { exitCodesHelp } from '../terminal/exit-codes.ts'

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
      demo: "Play incident I1 three times: in a plain loop, in Weir, and in the plain loop at Weir's proxy. Needs no API key and no broker. Keeps the log only in a new --data-folder. On Kafka, the demo plays the first two.",
      'demo-model': "Serve the demo's model until Ctrl-C, to try weir ask without an API key.",
    }),
    part(async () => (await import('./commands/talk.ts')).addTalk, {
      ask: 'Send one message to an agent. Shows the turn on stderr and prints the reply on stdout.',
      chat: 'Talk to an agent in the terminal. In piped input, each line is a message.',
      fork: 'Begin a new conversation that continues another conversation from a turn on, and print the new id.',
      title: 'Give a conversation a title for lists, the console and the search.',
    }),
  ],
  'Guard an agent that runs elsewhere:': [
    part(async () => (await import('./commands/proxy.ts')).addProxy, {
      proxy:
        'Guard agents that call their model through this proxy, until SIGTERM or SIGINT. Without --data-folder the log is in memory.',
    }),
    part(async () => (await import('./commands/mcp.ts')).addMcp, {
      mcp: 'Guard calls to MCP servers: a host starts this command in place of a server. Without --data-folder the log is in memory.',
    }),
    part(async () => (await import('./commands/hooks.ts')).addHooks, {
      hooks:
        'Let Weir judge tool calls by Claude Code, Codex, Gemini CLI and Copilot CLI in hooks.',
    }),
  ],
  'Read the log:': [
    part(async () => (await import('./commands/log/history.ts')).addHistory, {
      inspect:
        'Show a conversation: rounds, calls, verdicts, results, times. Works while Weir runs.',
      report:
        'Write a conversation as a page for a browser. Without a conversation: the newest conversations, with an index.',
      conversations:
        'List the latest conversations: questions, turns, tokens, money, ends, notable facts.',
      tail: 'Print the decoded records of a topic, one JSON object a line: topic, partition, offset, time, key, id, type, message.',
    }),
    part(async () => (await import('./commands/log/audit.ts')).addAudit, {
      audit:
        "List people's decisions, with the questions and the calls' ends, and operators' changes.",
    }),
    part(async () => (await import('./commands/log/traces.ts')).addTraces, {
      traces:
        'Send turns as OpenTelemetry traces: those since a time, then new turns, until a signal.',
    }),
  ],
  'Bundles and replay, offline:': [
    part(async () => (await import('./commands/log/bundles.ts')).addBundles, {
      export:
        'Write conversations to one file, to keep, inspect and replay: whole turns with all records. Works while Weir runs.',
      import: 'Restore a bundle into a new data folder: the same log, with its offsets and times.',
      'import-transcript':
        "Convert another runtime's conversations to a bundle, to inspect, judge and replay.",
    }),
    part(async () => (await import('./commands/judging.ts')).addJudging, {
      scan: 'Find the loops in the sessions that coding agents have stored on this machine. Nothing leaves the machine. Only --html and --github write a file.',
      normalize: 'Show the parts and calls that Weir reads from recorded streams, offline.',
      judge:
        'Run scenarios, a bundle or output from weir inspect --json through validator and loop-detector.',
      replay:
        'Recompute all decisions in a log or a bundle, and compare them with the recorded decisions. With --set, --policy, --guard or --sweep: show the decisions that would have differed.',
    }),
  ],
  'Run stages:': [
    part(async () => (await import('./commands/up.ts')).addUp, {
      up: 'Run stages until SIGTERM or SIGINT: all stages, or some on Kafka. Serves health and metrics on a separate port.',
    }),
    part(async () => (await import('./commands/serve.ts')).addServe, {
      serve:
        "Serve agents over HTTP until SIGTERM or SIGINT, from a module or from agent files. On a data folder, also run the stages if no other process does. Without agents: serve the log's history and controls.",
    }),
    part(async () => (await import('./commands/console.ts')).addConsole, {
      console:
        "Print the console's address at a running server, or open the console with --open. If no server answers, serve the log's history and controls.",
    }),
    part(async () => (await import('./commands/serve.ts')).addApiKeys, {
      'api-keys': 'Create, list, rotate and remove API keys for clients that use weir serve.',
    }),
    part(async () => (await import('./commands/log/backup.ts')).addBackup, {
      backup: "Copy a data folder's log to one file. Works while Weir runs.",
      restore:
        "Make a new data folder's log from a backup. Calls that wait for a person still wait, and other open messages end.",
    }),
    part(async () => (await import('./commands/log/topics.ts')).addTopics, {
      topics: 'Plan, create and check the topics that Weir needs on Kafka.',
    }),
    part(async () => (await import('./commands/operator/fleet.ts')).addFleet, {
      fleet:
        "Show a Kafka fleet's processes with their versions and record formats, and pin a format.",
    }),
    part(async () => (await import('./commands/operator/keys.ts')).addKeys, {
      keys: 'Create signing keys for records on Kafka, and encryption keys.',
    }),
    part(async () => (await import('./commands/log/reset.ts')).addReset, {
      reset:
        "Find commits outside their log on Kafka, and repair them. The stage then goes on at the partition's end.",
    }),
    part(async () => (await import('./commands/log/dead-letters.ts')).addDeadLetters, {
      'dead-letters': 'List, show and retry the records that a stage could not process.',
    }),
    part(async () => (await import('./commands/log/forget.ts')).addForget, {
      forget: 'Delete conversations for good, with every record and copy. Works while Weir runs.',
    }),
  ],
  'Control tool calls:': [
    part(async () => (await import('./commands/operator/guard.ts')).addGuard, {
      guard: 'Run and manage guards: services that judge calls before they run, with a veto.',
    }),
    part(async () => (await import('./commands/operator/approvals.ts')).addApprovals, {
      approvals: 'List the calls that wait for a person, and the rules that make calls wait.',
      allow:
        "Let a waiting call run, with exactly the arguments shown, or answer the tool's question.",
      deny: "Deny a waiting call, or decline the tool's question.",
    }),
    part(async () => (await import('./commands/operator/policy.ts')).addPolicy, {
      policy:
        "Set thresholds, caps and rule modes over those in agent files, effective from the next model response. AGENT is a name, or '*' for all.",
    }),
    part(async () => (await import('./commands/operator/stops.ts')).addStops, {
      stop: 'Stop agents, tenants, tools or a conversation until weir release. A stop counts within a second, without a restart.',
      stops: 'List the stops in force: id, mode, time, author and reason.',
      release: 'Release a stop. New questions run again, and turns that have ended stay ended.',
    }),
    part(async () => (await import('./commands/operator/budgets.ts')).addBudgets, {
      budget: 'Limit tokens and money for tenants, agents and conversations.',
    }),
  ],
  'Set up and check:': [
    part(async () => (await import('./commands/setup.ts')).addSetup, {
      init: 'Write a starter agent file and tools, or a project. Keeps existing files.',
      settings: 'Show every setting with value, origin and meaning.',
      doctor: 'Check this machine for problems and print the fixes.',
    }),
  ],
}

export const programText = 'A low wall across a river: guards the tool calls of LLM agents.'

/** Follows the list of commands. */
export const programEnd = `
Examples:
  weir demo
  weir scan
  weir ask --help
${exitCodesHelp}`

type Item = readonly [term: string, description: string]

export const versionOption: Item = ['-V, --version', "print Weir's version"]
/** Commander adds the second option, and in the help the command below. */
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

/** Adds all commands. Commands that the words do not name get a name and a description only. */
export async function addCommands(
  program: Command,
  words: readonly string[] | 'all',
): Promise<void> {
  const named = words === 'all' ? undefined : namedIn(words)
  for (const [heading, parts] of Object.entries(commandList)) {
    program.commandsGroup(heading)
    for (const { load, commands } of parts) {
      if (words === 'all' || (named !== undefined && Object.hasOwn(commands, named)))
        (await load())(program)
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
