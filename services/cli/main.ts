// The command line of Weir. Each command's code is loaded when it is used, so that `weir --help` is quick.
// Exit codes: 0 done, 1 trouble, 2 bad usage; of a turn: 3, it ended with the agent's fallback; of a decision: 4, it changes nothing.

import { writeSync } from 'node:fs'
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import type { ProviderName } from '../../shared/agents.ts'
import type { ErrorCode } from '../../shared/errors.ts'
import { WeirError } from '../../shared/errors.ts'
import type { SettingKey, Settings } from '../../shared/settings.ts'
import { flagOf, settingKeys, settingTable } from '../../shared/settings.ts'
import type { SettingFlags } from './command-settings.ts'
import { badModels } from './demo/reflex-model.ts'
import { printableLines } from './terminal/printable.ts'

/** What a person wrote, and has to write otherwise. */
const usageErrors = new Set<ErrorCode>([
  'usage',
  'settings.invalid',
  'agent.invalid',
  'agent.unknown',
  'message.invalid',
  'guard.invalid',
  'guard.taken',
  'guard.unknown',
  'policy.unknown',
  'scenario.invalid',
  'approval.unknown',
  'approval.ambiguous',
  'transcript.invalid',
])

/** Those that an agent file can name. */
const providerNames: ProviderName[] = ['anthropic', 'openai-chat', 'openai-responses']

/** The bus of a command that may be asked to work over any. */
const whichBus: SettingKey[] = ['bus', 'dataFolder', 'bootstrapServer', 'commandConfig', 'commandProperty']

/** How long what is written is kept. */
const keeping: SettingKey[] = ['retention', 'toleratedDowntime']

const guardText =
  'a guard that runs here, on the embedded bus: shell, spend or a file, with =OPTIONS behind it a file of JSON for it; may be given again. It stays registered, with its mode'

/** The command is done, and the exit code its own. */
let hasEnded = false

/** Of a command whose 1 is an answer, trouble is another one. */
let troubleCode = 1

const program = new Command('weir')
  .description('A low wall across a river: guards the tool calls of LLM agents.')
  .exitOverride()
  .showSuggestionAfterError()

withSettings(program.command('demo'), [...whichBus, 'topicPrefix', 'agents', 'logLevel', 'partitions', 'synchronous'])
  .description(
    'plays incident I1 twice, through a plain loop and through Weir; needs no key and no broker; on Kafka, over the stages that run there',
  )
  .addOption(new Option('--bad <model>', 'which bad model plays').choices([...badModels]).default('reflex'))
  .action(async (options) => {
    const settings = await settingsOf(options)
    if (settings.bus === 'kafka') return (await import('./demo/over-stages.ts')).runDemoOverStages(options.bad, settings, process.stdout)
    await (await import('./demo/demo.ts')).runDemo(options.bad, settings, process.stdout)
  })

program
  .command('demo-model', { hidden: true })
  .description('the scripted models of the demo as a service, for stages that run elsewhere: until SIGTERM or SIGINT')
  .option('--host <host>', 'where it listens', '127.0.0.1')
  .option('--port <port>', 'where it listens; 0: on any that is free', '0')
  .action(async (options) => (await import('./demo/model-service.ts')).serveModel(options, process.stdout))

withSettings(program.command('ask'), [...whichBus, 'topicPrefix', 'logLevel', 'partitions', ...keeping, 'synchronous'])
  .description('one message to an agent: what becomes of it on stderr, the reply on stdout; exit 0: a reply, 3: the fallback')
  .argument('[text]', 'the message; - or nothing: standard input')
  .requiredOption('--agent <file>', 'the agent file')
  .option('--conversation <id>', 'goes on with this conversation; default: a new one')
  .option('--guard <guard>', guardText, listed)
  .addOption(
    new Option('--guard-mode <mode>', 'of these guards; default: as registered, and shadow for a new one').choices(['shadow', 'enforce']),
  )
  .option('--json', 'all events on stdout, one JSON object a line, the last one the turn-finished')
  .action(async (text, options) => {
    process.exitCode = await (await import('./ask.ts')).ask(text, options, await settingsOf(options))
  })

withSettings(program.command('chat'), [...whichBus, 'topicPrefix', 'logLevel', 'partitions', ...keeping, 'synchronous'])
  .description('a conversation with an agent in the terminal; piped in, each line is a message')
  .requiredOption('--agent <file>', 'the agent file')
  .option('--conversation <id>', 'goes on with this conversation; default: a new one')
  .option('--guard <guard>', guardText, listed)
  .addOption(
    new Option('--guard-mode <mode>', 'of these guards; default: as registered, and shadow for a new one').choices(['shadow', 'enforce']),
  )
  .action(async (options) => (await import('./chat.ts')).chat(options, await settingsOf(options)))

withSettings(program.command('inspect'), [...whichBus, 'topicPrefix'])
  .description('what happened in a conversation: rounds, calls, verdicts, results, times; also beside a running Weir')
  .argument('<id>', 'the conversation; or a bundle, which weir export made')
  .argument('[conversation]', 'of a bundle: which of its conversations; default: all, as a list')
  .option('--full', 'texts without a limit')
  .option('--reasoning', 'what the model thought, too')
  .option('--json', 'one JSON object; services/cli/inspect/timeline.ts says what is in it')
  .addOption(bundleOption())
  .action(async (id, conversation, options) =>
    (await import('./inspect/inspect.ts')).inspectAny(id, conversation, await settingsOf(options), options, process.stdout),
  )

withSettings(program.command('report'), [...whichBus, 'topicPrefix'])
  .description('what happened in a conversation as one page for a browser, which needs nothing else; without one: all, with an index')
  .argument('[bundle]', 'a bundle, which weir export made; default: the log that the settings name')
  .option('--conversation <id>', 'only this conversation; default: the newest ones')
  .option('--turn <number>', 'only this turn of it, as weir inspect numbers them')
  .option('-o, --output <file>', 'the page', 'report.html')
  .option('--force', 'writes over a file that is there')
  .option('--reasoning', 'what the model thought, too')
  .action(async (bundle, options) =>
    (await import('./report/report.ts')).report({ settings: await settingsOf(options), bundle, options }, process.stdout),
  )

withSettings(program.command('conversations'), [...whichBus, 'topicPrefix'])
  .description('the conversations that were active last: turns, tokens, how each ended')
  .option('--limit <number>', 'how many', '20')
  .addOption(bundleOption())
  .option('--json', 'one JSON object a line; services/cli/conversations/summary.ts says what is in it')
  .action(async (options) =>
    (await import('./conversations/conversations.ts')).listConversations(await settingsOf(options), options, process.stdout),
  )

withSettings(program.command('tail'), [...whichBus, 'topicPrefix'])
  .description('the records of a topic, decoded, one JSON object a line; services/cli/tail/record-line.ts says what is in it')
  .argument('<topic>', 'the topic, such as activity or guard-verdicts.NAME, with or without the prefix of topics')
  .option('--conversation <id>', 'only of this conversation')
  .option('--type <type>', 'only of this type, such as turn-finished; may be given again for further ones', listed)
  .option('--partition <number>', 'only of this partition')
  .option('--from <where>', 'beginning, end, an offset, or a time; default: beginning, with --follow end')
  .option('--since <time>', "not older than this: 2026-07-29T10:12:03Z, 2026-07-29, '10m ago'")
  .option('--until <time>', 'older than this')
  .option('--limit <number>', 'ends after so many')
  .option('--follow', 'goes on with what comes, until Ctrl-C')
  .addOption(bundleOption())
  .action(async (topic, options) => (await import('./tail/tail.ts')).tail(topic, options, await settingsOf(options), process.stdout))

withSettings(program.command('export'), [...whichBus, 'topicPrefix'])
  .description(
    'conversations as one file, to keep, mail, look into and replay: whole turns, with all that led to them; also beside a running Weir',
  )
  .option('--conversation <id>', 'this conversation; may be given again for further ones; default: all', listed)
  .option('--since <time>', "turns that were active then or later: 2026-07-29T10:12:03Z, 2026-07-29, '10m ago'")
  .option('--until <time>', 'turns that began before this')
  .option('--where <key=value>', 'turns that ended so: failureClass=no-progress, outcome, cap, agent; may be given again', listed)
  .requiredOption('-o, --output <file>', 'the file, such as incident.weir')
  .option('--redact <file>', 'rules of what is replaced in contents; services/cli/export/README.md explains them')
  .addOption(bundleOption())
  .option('--force', 'in the place of a file that is there')
  .action(async (options) => {
    process.exitCode = await (await import('./export/export.ts')).exportBundle(options, await settingsOf(options), process.stdout)
  })

withSettings(program.command('import'), ['dataFolder', 'retention', 'toleratedDowntime'])
  .description('makes a data folder of a bundle: the log as it was, offsets and times too; only where there is none yet')
  .argument('<file>', 'the bundle, which weir export made')
  .action(async (file, options) => {
    process.exitCode = await (await import('./import/import.ts')).importBundle(file, await settingsOf(options), process.stdout)
  })

program
  .command('import-transcript')
  .description('conversations of another runtime as a bundle, to inspect, judge and replay: what Weir would have done with them')
  .argument('<file>', 'JSON or JSON lines; services/cli/import-transcript/README.md says which shapes')
  .addOption(
    new Option('--format <format>', 'whose words it is written in').choices(['anthropic', 'openai', 'openai-agents']).makeOptionMandatory(),
  )
  .requiredOption('-o, --output <file>', 'the bundle, such as logs.weir')
  .option('--force', 'in the place of a file that is there')
  .action(async (file, options) => {
    process.exitCode = await (await import('./import-transcript/import-transcript.ts')).importTranscript(file, options, process.stdout)
  })

program
  .command('normalize')
  .description(
    'what Weir makes of recorded streams, offline: their parts and calls; exit 0: each was read, whatever it holds, 1: one is no recorded stream',
  )
  .argument('<files...>', 'server-sent events as bytes, or JSON lines with one payload each')
  .addOption(new Option('--provider <provider>', 'whose format it is').choices(providerNames).makeOptionMandatory())
  .option('--tools <file>', 'the tools that were offered, a JSON array of {name, schema}; default: those that are called, with any object')
  .option('--json', 'one JSON object a file and a line')
  .action(async (files, options) => {
    process.exitCode = await (await import('./normalize/normalize.ts')).normalize(files, options, process.stdout)
  })

withSettings(program.command('up'), settingKeys)
  .description('runs stages until SIGTERM or SIGINT: all, or some on Kafka; health and metrics on a port of its own')
  .option('--stages <names>', 'which ones, with commas between them; default: all')
  .option('--guards <folder>', 'guards that run in this process too: each module in the folder is one')
  .option('--guard <guard>', 'a single one, by its file or its name, with =OPTIONS as for weir ask; may be given again', listed)
  .addOption(
    new Option('--guard-mode <mode>', 'of these guards; default: as registered, and shadow for a new one').choices(['shadow', 'enforce']),
  )
  .action(async (options) => endWith(await (await import('./up/up.ts')).up(options)))

const guardModes = ['shadow', 'enforce']
const guard = program.command('guard').description('guards of your own: services that judge calls before they run, with a veto')

withSettings(guard.command('run'), [...whichBus, 'topicPrefix', 'logLevel', ...keeping, 'replicationFactor', 'healthHost', 'healthPort'])
  .description(
    'registers a guard and runs it beside the stages until SIGTERM or SIGINT; on Kafka, start it again for a further instance; health and metrics on a port of its own',
  )
  .argument('<guard>', 'shell or spend, or a file: a module whose default export is a guard, or a function from options to one')
  .addOption(new Option('--mode <mode>', 'for all its tools; default: as registered, and shadow for a new one').choices(guardModes))
  .option('--options <file>', 'JSON for a guard that is a function of options')
  .option('--replace', 'takes the place of another version of this name')
  .action(async (given, options) => endWith(await (await import('./guard/run.ts')).runGuardProcess(given, options)))

withSettings(guard.command('register'), [...whichBus, 'topicPrefix', 'logLevel', ...keeping, 'replicationFactor', 'synchronous'])
  .description('puts a guard in force that is run by somebody else, in another language; the same again changes nothing')
  .argument('<name>', '1 to 63 of a-z, 0-9 and -')
  .requiredOption('--version <text>', 'its version, for people')
  .requiredOption(
    '--tools <pattern>',
    'tools that it judges, perhaps with =enforce or =shadow; may be given again for further ones',
    listed,
  )
  .requiredOption('--deadline-ms <milliseconds>', 'how long a round waits for it where it enforces')
  .addOption(
    new Option('--on-timeout <what>', 'what becomes of its calls when it is silent').choices(['reject', 'allow']).default('reject'),
  )
  .addOption(new Option('--mode <mode>', 'for all its tools; default: as registered, and shadow for a new one').choices(guardModes))
  .option('--replace', 'takes the place of another version of this name')
  .action(async (name, options) => {
    const settings = await settingsOf(options)
    await (await import('./guard/register.ts')).registerElsewhere(name, options, settings, process.stdout)
    if (settings.bus === 'embedded')
      process.stderr.write(
        'on the embedded bus only weir guard run can read and answer: what is in another language cannot, and needs Kafka\n',
      )
  })

withSettings(guard.command('mode'), [...whichBus, 'topicPrefix', 'logLevel', 'synchronous'])
  .description('switches a guard: enforce, calls wait for it; shadow, its verdicts are recorded and change nothing')
  .argument('<name>', 'the guard')
  .addArgument(new Argument('<mode>').choices(guardModes))
  .option('--tools <pattern>', 'only for this pattern of tools; may be given again for further ones', listed)
  .action(async (name, mode, options) =>
    (await import('./guard/change.ts')).setGuardMode(name, mode, options, await settingsOf(options), process.stdout),
  )

withSettings(guard.command('list'), [...whichBus, 'topicPrefix'])
  .description('the guards that are registered: mode, rounds, rejections, late answers, latency, agreement')
  .option('--since <time>', "counts from then on: 2026-07-29T10:12:03Z, '10m ago'", '24h ago')
  .option('--json', 'one JSON object a line; services/cli/guard/list.ts says what is in it')
  .action(async (options) => (await import('./guard/list.ts')).listGuards(options, await settingsOf(options), process.stdout))

withSettings(guard.command('remove'), [...whichBus, 'topicPrefix', 'logLevel', 'synchronous'])
  .description('takes a guard out of force, from the next model response on; its topic stays')
  .argument('<name>', 'the guard')
  .action(async (name, options) => (await import('./guard/change.ts')).takeGuardOut(name, await settingsOf(options), process.stdout))

const approvals = program.command('approvals').description('calls that wait for a person: those that do, and the rules that say which')

withSettings(approvals.command('list', { isDefault: true }), [...whichBus, 'topicPrefix'])
  .description('the calls that wait, with id, exact arguments, since when and until when; also beside a running Weir')
  .option('--json', 'one JSON object a line; WaitingApproval in services/approval/desk.ts says what is in it')
  .action(async (options) => (await import('./approvals/list.ts')).listApprovals(options, await settingsOf(options), process.stdout))

withSettings(approvals.command('rules'), [...whichBus, 'topicPrefix', 'logLevel', 'synchronous'])
  .description(
    'which calls wait for a person: puts the rules of a file in force, or shows those that are; weir guard remove approval ends them',
  )
  .argument('[file]', 'JSON: {"rules": [{"name", "tools", "arguments", "pattern"}], "waitMs"}; services/guards/README.md says more')
  .action(async (file, options) => (await import('./approvals/rules.ts')).approvalRules(file, await settingsOf(options), process.stdout))

for (const answer of ['approve', 'reject'] as const) {
  const command = withSettings(program.command(answer), [...whichBus, 'topicPrefix', 'logLevel', 'synchronous'])
    .description(
      answer === 'approve'
        ? 'lets a call run that waits, with exactly the arguments that wait; exit 0: it counts, 4: it was decided before'
        : 'refuses a call that waits; exit 0: it counts, 4: it was decided before',
    )
    .argument('<id>', 'as weir approvals shows it')
    .option('--by <name>', 'who decides; default: the user of this system', notBlank)
  if (answer === 'reject') command.option('--reason <text>', 'why, for the model')
  command.action(async (id, options) => {
    process.exitCode = await (await import('./approvals/decide.ts')).decideApproval(answer, id, options, await settingsOf(options))
  })
}

const deadLetters = program.command('dead-letters').description('records that no stage could take: which, why, and once more')

withLetterFilter(withSettings(deadLetters.command('list', { isDefault: true }), [...whichBus, 'topicPrefix']))
  .description('the dead letters: place, stage, reason, and where the record stood; also beside a running Weir')
  .option('--json', 'one JSON object a line; ListedLetter in services/cli/dead-letters/list.ts says what is in it')
  .addOption(bundleOption())
  .action(async (options) => (await import('./dead-letters/list.ts')).listDeadLetters(options, await settingsOf(options), process.stdout))

withSettings(deadLetters.command('show'), [...whichBus, 'topicPrefix'])
  .description('one of them with its record, decoded as far as that is possible, and whether it can be written again')
  .argument('<place>', 'PARTITION/OFFSET, as the list shows it')
  .option('--json', 'one JSON object; ShownLetter in services/cli/dead-letters/list.ts says what is in it')
  .addOption(bundleOption())
  .action(async (place, options) =>
    (await import('./dead-letters/list.ts')).showDeadLetter(place, options, await settingsOf(options), process.stdout),
  )

withLetterFilter(withSettings(deadLetters.command('retry'), [...whichBus, 'topicPrefix', 'logLevel', 'synchronous']))
  .description(
    'writes their records again, to where they were read: messages, cancels and decisions, which come from outside; exit 0: each is written, 1: one is not',
  )
  .argument('[places...]', 'PARTITION/OFFSET, as the list shows it')
  .option('--all', 'all of them, or all that the other options name')
  .option('--yes', 'does not ask first')
  .action(async (places, options) => {
    process.exitCode = await (await import('./dead-letters/retry.ts')).retryDeadLetters(places, options, await settingsOf(options))
  })

const policy = program
  .command('policy')
  .description(
    "thresholds, caps and modes of rules over those of agent files, from the next model response on; AGENT is a name, or '*' for all",
  )

withSettings(policy.command('set'), [...whichBus, 'topicPrefix', 'logLevel', 'synchronous'])
  .description('sets some and keeps what else is set; beside a running Weir, without a restart')
  .argument('<agent>', "the agent's name, or '*' for all")
  .argument('[changes...]', 'KEY=VALUE: loop.identicalFailures=2, rule.cycle=shadow, rule.cycle=enforce, caps.rounds=10')
  .option('--file <file>', 'JSON, by key, in the place of all that is set for the agent')
  .option('--by <name>', 'who sets it, for people; default: the user of this system', notBlank)
  .option('--json', 'what changes, one JSON object a line; services/cli/policy/difference.ts says what is in it')
  .action(async (agent, changes, options) =>
    (await import('./policy/change.ts')).setPolicy(agent, { changes, ...options }, await settingsOf(options), process.stdout),
  )

withSettings(policy.command('get'), [...whichBus, 'topicPrefix'])
  .description('what is set for agents; of one agent every value with its origin')
  .argument('[agent]', "the agent's name, or '*' for what is set for all")
  .option('--json', 'one JSON object a line; services/cli/policy/look.ts says what is in it')
  .action(async (agent, options) => (await import('./policy/look.ts')).getPolicy(agent, options, await settingsOf(options), process.stdout))

withSettings(policy.command('diff'), [...whichBus, 'topicPrefix'])
  .description('what changes would come to; without them, what is set for the agent changes; exit 0: nothing, 1: something')
  .argument('<agent>', "the agent's name, or '*' for all")
  .argument('[changes...]', 'KEY=VALUE, as for weir policy set')
  .option('--file <file>', 'JSON, by key, in the place of all that is set for the agent')
  .option('--json', 'one JSON object a line; services/cli/policy/difference.ts says what is in it')
  .action(async (agent, changes, options) => {
    process.exitCode = await (await import('./policy/look.ts')).diffPolicy(
      agent,
      { changes, ...options },
      await settingsOf(options),
      process.stdout,
    )
  })

withSettings(policy.command('unset'), [...whichBus, 'topicPrefix', 'logLevel', 'synchronous'])
  .description('takes back what was set, so that the agent file counts again')
  .argument('<agent>', "the agent's name, or '*' for what is set for all")
  .argument('[keys...]', 'which; default: all')
  .option('--by <name>', 'who does it, for people; default: the user of this system', notBlank)
  .option('--json', 'what changes, one JSON object a line; services/cli/policy/difference.ts says what is in it')
  .action(async (agent, keys, options) =>
    (await import('./policy/change.ts')).unsetPolicy(agent, keys, options, await settingsOf(options), process.stdout),
  )

const topicSettings: SettingKey[] = [...whichBus, 'topicPrefix', 'partitions', 'replicationFactor']
const topics = program.command('topics').description('what Weir needs of its topics on Kafka: a plan, creating them, checking them')

withSettings(topics.command('plan'), [...topicSettings, ...keeping])
  .description("the topics, what each must be and why, and the lines that create them with Kafka's own tool; asks no broker")
  .option('--guard <name>', 'also the topic of a guard of this name; may be given again for further ones', listed)
  .option('--json', 'one JSON object')
  .action(async (options) => (await import('./topics/topics.ts')).showPlan(options, process.stdout))

withSettings(topics.command('create'), [...topicSettings, ...keeping])
  .description(
    'creates those that are missing, also of the guards that are registered, and changes none that exists; exit 0: all are as Weir needs them, 1: one is not',
  )
  .option('--json', 'one JSON object')
  .action(async (options) => {
    process.exitCode = await (await import('./topics/topics.ts')).createMissing(options, process.stdout, process.stderr)
  })

withSettings(topics.command('check'), [...topicSettings, ...keeping])
  .description(
    'compares them, and those of the guards that are registered, with the plan; exit 0: all are as Weir needs them, 1: each difference is told with its remedy',
  )
  .option('--json', 'one JSON object')
  .action(async (options) => {
    process.exitCode = await (await import('./topics/topics.ts')).checkTopics(options, process.stdout, process.stderr)
  })

program
  .command('judge')
  .description(
    'scenarios, or conversations as weir inspect --json prints them or of a bundle, through validator and loop-detector, offline; exit 1: not as labelled',
  )
  .argument('<file>', 'JSON lines; services/cli/judge/README.md explains the format; or a bundle')
  .option(
    '--set <key=value>',
    'a threshold, as agent files name it, or the mode of a rule: loop.identicalFailures=2, rule.cycle=shadow; may be given again',
    listed,
  )
  .option('--json', 'one JSON object a scenario: the first intervention, and whether it is as expected')
  .action(async (file, options) => {
    process.exitCode = await (await import('./judge/judge.ts')).judgeFile(file, options, process.stdout)
  })

withSettings(program.command('replay'), [...whichBus, 'topicPrefix'])
  .description(
    "every stage's decisions again, from the log or a bundle alone, compared with what was written; exit 0: the same, 1: the first difference is shown, 2: trouble. With --set, --policy, --guard or --sweep: what would have been decided otherwise",
  )
  .argument('[bundle]', 'a file of weir export; default: the log that the settings name')
  .option('--conversation <id>', 'only of this conversation')
  .option('--since <time>', "turns that began not before this: 2026-07-29T10:12:03Z, 2026-07-29, '10m ago'")
  .option('--until <time>', 'what was read before this')
  .option('--set <key=value>', 'a threshold, a cap or the mode of a rule: loop.identicalFailures=2; may be given again', listed)
  .option('--policy <file>', 'YAML or JSON with the sections loop, empty and caps of an agent file')
  .option('--guard <guard>', 'a guard that judges too, with =OPTIONS as for weir ask; it runs in a process of its own')
  .option('--sweep <key=from..to>', 'each value of a threshold: a table and a plot')
  .option('-o, --output <file>', 'the plot of --sweep as SVG')
  .option('--full', 'values and lists without a limit')
  .option('--json', 'one JSON object; services/cli/replay/README.md says what is in it')
  .action(async (bundle, options) => {
    troubleCode = 2
    process.exitCode = await (await import('./replay/replay.ts')).replay(bundle, options, await settingsOf(options), process.stdout)
  })

program
  .command('init')
  .description('writes an agent file and tools to start from; never over a file that is there')
  .argument('[folder]', 'where to', '.')
  .action(async (folder) => (await import('./init/init.ts')).init(folder, process.env, process.stdout))

withSettings(program.command('settings'), settingKeys)
  .description('every setting: its value, where that comes from, what it means')
  .option('--json', 'one JSON object, by setting')
  .action(async (options) => (await import('./settings.ts')).showSettings(options, options, process.stdout))

withSettings(program.command('doctor'), settingKeys)
  .description('what is missing or odd on this machine, with the remedy; exit 0: nothing is wrong, 1: something is')
  .option('--agent <file>', 'an agent file, or a folder of them; default: agent.yaml, if it is here')
  .option('--online', 'also asks whether models and servers of tools can be reached')
  .action(async (options) => {
    process.exitCode = await (await import('./doctor/doctor.ts')).doctor(options, process.stdout)
  })

/** Adds the flags of these settings to a command. */
function withSettings(command: Command, keys: SettingKey[]): Command {
  command.option('--config <file>', 'the settings file (WEIR_CONFIG; default weir.yaml or weir.json here, if there is one)')
  for (const key of keys) {
    const { variable, description, unit, schema } = settingTable[key]
    const range = schema.enum ? `: ${schema.enum.join(', ')}` : ''
    const flag = `--${flagOf(key)} <${unit ?? 'value'}>`
    const text = `${description}${range} (${variable}; default ${typeof schema.default === 'object' || schema.default === '' ? 'none' : schema.default})`
    if (schema.type === 'properties') command.option(flag, text, listed)
    else command.option(flag, text)
  }
  return command
}

function withLetterFilter(command: Command): Command {
  return command
    .option('--conversation <id>', 'only of this conversation')
    .option('--stage <name>', 'only those that this stage could not take')
    .option('--code <code>', 'only with this reason, such as codec.unknown-schema')
    .option('--since <time>', "only those written then or later: 2026-07-29T10:12:03Z, '10m ago'")
}

/** For a command that looks at a log. */
function bundleOption(): Option {
  return new Option('--bundle <file>', 'looks into this file, which weir export made, instead of the log')
}

/** The values of an option that may be given more than once. */
function listed(value: string, earlier: string[] = []): string[] {
  return [...earlier, value]
}

function notBlank(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('It is empty.')
  return value
}

/** A usage error points to the help of the command that was used. */
function pointToOwnHelp(command: Command, path: string): void {
  command.showHelpAfterError(`(${path} --help shows what there is)`)
  for (const one of command.commands) pointToOwnHelp(one, `${path} ${one.name()}`)
}

async function settingsOf(flags: SettingFlags): Promise<Settings> {
  const { commandSettings } = await import('./command-settings.ts')
  return commandSettings(flags)
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error // whoever read it has enough: `weir inspect ID | head`
})

// The module of a guard runs in this process and may call process.exit: that must not look like success.
process.once('exit', (code) => {
  if (hasEnded || code > 128) return // the latter: as by a signal, such as Ctrl-C
  if (code === 0) process.exitCode = 1
  writeSync(2, 'weir: this process was ended before the command was done: does a guard call process.exit?\n')
})

pointToOwnHelp(program, 'weir')
try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = exitCodeOf(error)
  if (!(error instanceof CommanderError)) process.stderr.write(`${printableLines(`weir: ${messageOf(error)}`).join('\n')}\n`)
}

hasEnded = true

/** For what leaves something open. */
function endWith(code: number): never {
  hasEnded = true
  process.exit(code)
}

/** Where it is none of ours, its stack: that is a bug, and somebody will want to know where. */
function messageOf(error: unknown): string {
  return error instanceof WeirError ? error.message : String((error as Error)?.stack ?? error)
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  return error instanceof WeirError && usageErrors.has(error.code) ? 2 : troubleCode
}
