// The list of commands: their groups, their descriptions, and the files that add them. A command's file
// loads when the command is named, to keep `weir --help` and every command fast.
// COMMAND-LIST-1. A part lists exactly the commands that its file adds, and the order is that of the help.

import type { Command } from 'commander'

/** `add` adds the commands of this part to the program. */
type Part = { add(program: Command): Promise<void>; commands: Record<string, string> }

type Group = { heading: string; parts: readonly Part[] }

const commandList: readonly Group[] = [
  {
    heading: 'Talk to an agent:',
    parts: [
      {
        add: async (program) => (await import('./commands/demo.ts')).addDemo(program),
        commands: {
          demo: 'Play incident I1 three times: through a plain loop, through Weir, and through the plain loop at its proxy. Needs no key and no broker. On Kafka, it plays the first two, with the stages that run there. Keeps its log only if --data-folder names a new folder.',
          'demo-model':
            'Serve the model of the demo until Ctrl-C. Try weir ask without a key, or with stages that run elsewhere.',
        },
      },
      {
        add: async (program) => (await import('./commands/talk.ts')).addTalk(program),
        commands: {
          ask: 'Send one message to an agent. Shows the turn on stderr and prints the reply on stdout. Exit codes: 0 a reply, 3 the fallback.',
          chat: 'Talk to an agent in the terminal. In piped input, each line is a message.',
        },
      },
    ],
  },
  {
    heading: 'Guard an agent that runs elsewhere:',
    parts: [
      {
        add: async (program) => (await import('./commands/proxy.ts')).addProxy(program),
        commands: {
          proxy:
            'Guard agents that call their model through this proxy, until SIGTERM or SIGINT. An agent changes its base URL only. Without --data-folder the log is in memory.',
        },
      },
      {
        add: async (program) => (await import('./commands/mcp.ts')).addMcp(program),
        commands: {
          mcp: 'Guard the calls of MCP servers: a host starts this command in place of a server. Without --data-folder the log is in memory.',
        },
      },
      {
        add: async (program) => (await import('./commands/hooks.ts')).addHooks(program),
        commands: {
          hooks: 'Let Weir judge the tool calls of Claude Code and Codex, in their own hooks.',
        },
      },
    ],
  },
  {
    heading: 'Read the log:',
    parts: [
      {
        add: async (program) => (await import('./commands/log/history.ts')).addHistory(program),
        commands: {
          inspect:
            'Show a conversation: rounds, calls, verdicts, results, times. Works beside a running Weir.',
          report:
            'Write a conversation as one page for a browser, without other files. Without a conversation: all of them, with an index.',
          conversations:
            'List the latest active conversations: questions, turns, tokens, money, their ends and notable facts.',
          tail: 'Print the records of a topic, decoded, one JSON object per line; see apps/history/tail/record-line.ts.',
        },
      },
      {
        add: async (program) => (await import('./commands/log/traces.ts')).addTraces(program),
        commands: {
          traces:
            'Send turns as OpenTelemetry traces: those since a time, then the new ones, until a signal.',
        },
      },
    ],
  },
  {
    heading: 'Bundles and replay, offline:',
    parts: [
      {
        add: async (program) => (await import('./commands/log/bundles.ts')).addBundles(program),
        commands: {
          export:
            'Write conversations to one file, to keep, mail, inspect and replay. Exports whole turns with all their records. Works beside a running Weir.',
          import:
            'Restore a bundle into a new data folder: the same log, with its offsets and times.',
          'import-transcript':
            'Convert conversations of another runtime to a bundle, to inspect, judge and replay. Shows what Weir would have done.',
        },
      },
      {
        add: async (program) => (await import('./commands/judging.ts')).addJudging(program),
        commands: {
          normalize: 'Show the parts and calls that Weir reads from recorded streams, offline.',
          judge:
            'Run scenarios or conversations through validator and loop-detector, offline. Reads a bundle, or the output of weir inspect --json.',
          replay:
            "Recompute every stage's decisions from the log or a bundle, and compare them with the recorded ones. With --set, --policy, --guard or --sweep: show the decisions that would have differed.",
        },
      },
    ],
  },
  {
    heading: 'Run stages:',
    parts: [
      {
        add: async (program) => (await import('./commands/up.ts')).addUp(program),
        commands: {
          up: 'Run stages until SIGTERM or SIGINT: all of them, or some on Kafka. Serves health and metrics on its own port.',
        },
      },
      {
        add: async (program) => (await import('./commands/serve.ts')).addServe(program),
        commands: {
          serve:
            'Serve agents over HTTP until SIGTERM or SIGINT. On a data folder it runs the stages if no other process does; on Kafka they run elsewhere.',
        },
      },
      {
        add: async (program) => (await import('./commands/console.ts')).addConsole(program),
        commands: {
          console:
            'Print the address of the console of a running weir serve or weir up --http-port, and open it in a browser with --open.',
        },
      },
      {
        add: async (program) => (await import('./commands/serve.ts')).addApiKeys(program),
        commands: {
          'api-keys': 'Create and remove the API keys of clients of weir serve.',
        },
      },
      {
        add: async (program) => (await import('./commands/log/topics.ts')).addTopics(program),
        commands: {
          topics: 'Plan, create and check the topics that Weir needs on Kafka.',
        },
      },
      {
        add: async (program) => (await import('./commands/operator/keys.ts')).addKeys(program),
        commands: {
          keys: 'Create the keys of signed records on Kafka, and of encrypted ones.',
        },
      },
      {
        add: async (program) => (await import('./commands/log/reset.ts')).addReset(program),
        commands: {
          reset:
            "Find commits that are outside their log on Kafka, and repair them. The stage then goes on at the partition's end.",
        },
      },
      {
        add: async (program) =>
          (await import('./commands/log/dead-letters.ts')).addDeadLetters(program),
        commands: {
          'dead-letters': 'List, show and retry the records that a stage could not process.',
        },
      },
    ],
  },
  {
    heading: 'Control tool calls:',
    parts: [
      {
        add: async (program) => (await import('./commands/operator/guard.ts')).addGuard(program),
        commands: {
          guard: 'Run and manage guards: services that judge calls before they run, with a veto.',
        },
      },
      {
        add: async (program) =>
          (await import('./commands/operator/approvals.ts')).addApprovals(program),
        commands: {
          approvals: 'List the calls that wait for a person, and the rules that make calls wait.',
          allow:
            'Let a waiting call run, with exactly the arguments shown, or answer the question of its tool. Exit codes: 0 your decision counts, 4 somebody decided earlier.',
          deny: 'Deny a waiting call, or decline the question of its tool. Exit codes: 0 your decision counts, 4 somebody decided earlier.',
        },
      },
      {
        add: async (program) => (await import('./commands/operator/policy.ts')).addPolicy(program),
        commands: {
          policy:
            "Set thresholds, caps and rule modes over those of agent files, effective from the next model response. AGENT is a name, or '*' for all.",
        },
      },
      {
        add: async (program) => (await import('./commands/operator/stops.ts')).addStops(program),
        commands: {
          stop: 'Stop agents, tenants, tools or a conversation until weir release. It counts within a second, without a restart.',
          stops: 'List the stops in force: id, mode, time, author and reason.',
          release: 'Release a stop. New questions run again, and turns that have ended stay ended.',
        },
      },
      {
        add: async (program) =>
          (await import('./commands/operator/budgets.ts')).addBudgets(program),
        commands: {
          budget: 'Limit tokens and money of tenants, agents and conversations.',
        },
      },
    ],
  },
  {
    heading: 'Set up and check:',
    parts: [
      {
        add: async (program) => (await import('./commands/setup.ts')).addSetup(program),
        commands: {
          init: 'Write a starter agent file and tools, or a project. Keeps existing files.',
          settings: 'Show every setting: its value, the origin of the value, its meaning.',
          doctor: 'Check this machine for problems and print the fixes.',
        },
      },
    ],
  },
] as const

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
  const groups = commandList.map(({ heading, parts }) => ({
    heading,
    items: parts.flatMap(({ commands }): Item[] => Object.entries(commands)),
  }))
  groups.at(-1)?.items.push(helpCommand)
  return groups
}

/** Adds all commands. Those beside the named one get a name and a description only. */
export async function addCommands(program: Command, words: readonly string[]): Promise<void> {
  const named = namedIn(words)
  for (const { heading, parts } of commandList) {
    program.commandsGroup(heading)
    for (const { add, commands } of parts) {
      if (named !== undefined && Object.hasOwn(commands, named)) await add(program)
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
