// A shared bus: whether its brokers can be reached, the topics fit, this user may read, the stages
// run and the clocks agree. It writes one record, a tombstone of a key that nobody uses: only the
// time of an acknowledged write bounds the brokers' clock from both sides.

import { endsOf } from '../../../client/history/readable-log.ts'
import { skewText } from '../../../shared/bus/kafka/clock-skew.ts'
import type { SharedBus } from '../../../shared/bus/kind.ts'
import type { TopicSpec } from '../../../shared/contract/bus.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { keptBy, topicSpecs } from '../../../shared/contract/retention.ts'
import { stageNames, type TopicName } from '../../../shared/contract/topology.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { withLog } from '../../history/open-log.ts'
import { count } from '../../terminal/text/quantities.ts'
import { stagesWithAgents } from '../selected-stages.ts'
import { guardTopicsOn } from '../topics/guard-topics.ts'
import { withPlannedPartitions, withTopicsBus } from '../topics/planned-partitions.ts'
import { fleetFilesCheck } from './agent-files.ts'
import { type Check, ok, skipped, warning, wrong, wrongBy } from './check.ts'
import { guardsCheck } from './guards.ts'
import { clockCheck } from './machine.ts'

const differencesShown = 3
/** The key of the tombstone. Compaction removes it. */
const clockKey = 'doctor-clock'
/** No topic has newer records. */
const busiest: TopicName[] = ['activity', 'conversation-events']

/** `setPartitions`: as in withPlannedPartitions. */
export async function* clusterChecks(
  kind: SharedBus,
  settings: Settings,
  setPartitions: number | undefined,
): AsyncGenerator<Check> {
  yield clockCheck(Date.now(), undefined)
  try {
    await kind.checkClient(settings)
  } catch (error) {
    yield* mistakesOf(error)
    return
  }
  try {
    yield* topicChecks(kind, settings, setPartitions)
  } catch (error) {
    if (error instanceof WeirError && error.code === 'bus.topic-differs') {
      yield wrongBy('topics', error)
      return
    }
    yield wrongBy('brokers', error)
    yield skipped('topics', 'not checked until the brokers can be reached')
    return
  }
  yield await stagesCheck(kind, settings)
  yield await filesOfFleetCheck(kind, settings)
  yield await guardsCheck(settings)
  yield await readCheck(settings)
  yield await brokerClockCheck(settings)
}

function mistakesOf(error: unknown): Check[] {
  if (!(error instanceof WeirError)) throw error
  const [title = '', ...mistakes] = error.message.split('\n')
  const all = mistakes.length === 0 ? [title] : mistakes
  return all.map((mistake) => wrongBy('client', mistake.trim()))
}

async function* topicChecks(
  kind: SharedBus,
  given: Settings,
  setPartitions: number | undefined,
): AsyncGenerator<Check> {
  const settings = await withPlannedPartitions(given, setPartitions)
  const { topicPrefix, partitions } = settings
  const { retentionMs, auditMs } = keptBy(settings)
  const specs = topicSpecs(topicPrefix, partitions, retentionMs, auditMs)
  const survey = (of: TopicSpec[]) => kind.survey(settings, of, createLog({ level: 'silent' }))
  const { brokers, differences: own } = await survey(specs)
  yield ok('brokers', `${count(brokers.length, 'broker')}: ${brokers.join(', ')}`)
  const ofGuards = own.length === 0 ? await guardTopicsOn(settings) : []
  const differences = ofGuards.length === 0 ? own : (await survey(ofGuards)).differences
  if (differences.length === 0)
    yield ok(
      'topics',
      `${specs.length + ofGuards.length} topics that begin with ${topicPrefix}, all as Weir needs them`,
    )
  else if (
    differences.every(({ property }) => property === 'topic') &&
    differences.length === specs.length
  )
    yield wrong(
      'topics',
      `no topic begins with '${topicPrefix}'`,
      'weir topics create, or give the prefix of your topics (--topic-prefix)',
    )
  else {
    for (const { topic, property, is, shouldBe, remedy } of differences.slice(0, differencesShown))
      yield wrong('topics', `${topic}: ${property} is ${is}, and must be ${shouldBe}`, remedy)
    const more = differences.length - differencesShown
    if (more > 0)
      yield wrong('topics', `${count(more, 'further difference')}`, 'weir topics check lists all')
  }
}

async function stagesCheck(kind: SharedBus, settings: Settings): Promise<Check> {
  const name = 'stages'
  const { topicPrefix } = settings
  try {
    const groups = stageNames.map((stage) => topicPrefix + stage)
    const members = await (await kind.groups(settings, createLog({ level: 'silent' }))).members(
      groups,
    )
    const missing = stageNames.filter((stage) => (members.get(topicPrefix + stage) ?? 0) === 0)
    const running = stageNames
      .map((stage) => `${stage} ${members.get(topicPrefix + stage) ?? 0}`)
      .join(', ')
    if (missing.length === 0) return ok(name, `running copies: ${running}`)
    return warning(
      name,
      `no process runs ${missing.join(', ')}`,
      `weir up --stages ${missing.join(',')}`,
    )
  } catch (error) {
    return wrongBy(name, error)
  }
}

function filesOfFleetCheck(kind: SharedBus, settings: Settings): Promise<Check> {
  const names = stagesWithAgents(stageNames).map((stage) => settings.topicPrefix + stage)
  return fleetFilesCheck(async () => {
    const groups = await kind.groups(settings, createLog({ level: 'silent' }))
    return groups.announced(names)
  })
}

/** Reading shows that this user may read. */
async function readCheck(settings: Settings): Promise<Check> {
  try {
    const newest = await withLog(settings, async (log) => {
      let time = 0
      for (const topic of busiest)
        for (const { partition, begin, end } of await endsOf(log, topic)) {
          const from = Math.max(begin, end - 1)
          const [last] = await log.bus.read({
            topic: log.topicPrefix + topic,
            partition,
            from,
            limit: 1,
            bytesMax: 1,
          })
          time = Math.max(time, last?.time ?? 0)
        }
      return time
    })
    if (newest === 0) return ok('records', 'there are none yet')
    return ok('records', `they can be read; the newest is of ${new Date(newest).toISOString()}`)
  } catch (error) {
    return wrongBy('records', error)
  }
}

async function brokerClockCheck(settings: Settings): Promise<Check> {
  const name = 'clocks'
  try {
    const skewMs = await withTopicsBus(settings, async (bus) => {
      const topic = `${settings.topicPrefix}policies`
      await bus.append([{ topic, partition: 0, key: clockKey, value: null }])
      return bus.clockSkew?.measuredMs
    })
    if (skewMs === undefined)
      return skipped(name, 'the brokers gave no time: weir topics check shows why')
    return skewCheck(name, skewMs)
  } catch (error) {
    if (error instanceof WeirError && error.code === 'bus.topic-missing')
      return skipped(name, 'not compared until the topics exist')
    if (error instanceof WeirError && error.code === 'bus.unauthorized')
      return skipped(name, 'not compared: this user may not write policies')
    return wrongBy(name, error)
  }
}

function skewCheck(name: string, skewMs: number): Check {
  const finding = skewText(skewMs)
  if (Math.abs(skewMs) <= limits.clockSkewWarnMs) return ok(name, finding)
  const remedy = 'set the clocks of this machine and of the brokers by NTP'
  return Math.abs(skewMs) <= limits.clockSkewMaxMs
    ? warning(name, finding, remedy)
    : wrong(name, finding, remedy)
}
