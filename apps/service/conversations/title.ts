// Gives a conversation a title: `weir title`, and the form of the console. A program uses `setTitle`, and
// a client `PUT /v1/conversations/{id}/title`.

import { setTitle } from '../../../client/conversation/title.ts'
import { titleIn } from '../../../client/history/histories.ts'
import { partitionCount } from '../../../client/place/open-bus.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import { titleFault } from '../../../shared/contract/history/title.ts'
import { type ConversationId, parseConversationId } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { TitleGiven } from '../../../shared/contract/messages.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import { titleKey } from '../../../shared/contract/topology.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { appendTexts } from '../../../shared/runtime/settings/audited-change.ts'
import { titleSetting } from '../../../shared/view/audit/entries.ts'
import { type SettingChange, warning } from '../setting-command.ts'

type Input = { conversation: ConversationId; title: string }

/** `isTaken` false: no stage has taken the title yet. */
type Titled = Input & { isTaken: boolean }

/** An empty title removes the one that was given. */
export const titleChange: SettingChange<Input, Input, Titled> = {
  sendsToIntake: true,
  read({ conversation, title }) {
    const fault = titleFault(title)
    if (fault !== undefined) throw usageError(`the title ${fault}`)
    return { conversation: parseConversationId(conversation), title }
  },
  async write({ bus, topicPrefix, identity }, { conversation, title }, { by }) {
    const partition = partitionOf(conversation, await partitionCount(bus, topicPrefix))
    const table = { topic: `${topicPrefix}history`, partition }
    const key = titleKey(conversation)
    const ends = await bus.ends(table.topic, [partition])
    const from = ends.find((one) => one.partition === partition)?.end ?? 0
    const former = await bus.get({ ...table, key, waitMs: 0 })
    const write = async (message: TitleGiven) => {
      const texts = {
        setting: titleSetting(conversation),
        by,
        before: bytesOf(titleIn(former?.value ?? null) ?? ''),
        after: bytesOf(title),
      }
      const topic = `${topicPrefix}client-messages`
      const record = toRecord({ topic, partition, message })
      await appendTexts({ bus, topicPrefix, identity }, texts, [record])
    }
    await setTitle({ place: { bus, topicPrefix, partition }, write }, conversation, title)
    return { conversation, title, isTaken: await isWritten(bus, { ...table, key, from }) }
  },
  lines: ({ conversation, title }) => [
    title === ''
      ? `${conversation} has no title any more: lists show the first words of its first message`
      : `${conversation} has the title ${title}`,
  ],
  json: ({ conversation, title }) => [{ conversation, title }],
  notes: ({ isTaken }) => [
    isTaken
      ? undefined
      : warning(
          `no stage has taken the title within ${limits.intakeWaitMs / 1000} seconds: lists show it once the stages run (weir up)`,
        ),
  ],
}

/** As evidence has a title: without its words. Empty: there is none. */
function bytesOf(title: string): string {
  return title === '' ? '' : JSON.stringify({ bytes: Buffer.byteLength(title) })
}

/** Waits until the table has a record under `key` from `from` on. False: not in time. */
async function isWritten(
  bus: Pick<Bus, 'follow'>,
  { key, ...range }: { topic: string; partition: number; key: string; from: number },
): Promise<boolean> {
  const signal = AbortSignal.timeout(limits.intakeWaitMs)
  for await (const records of bus.follow({ ...range, signal }))
    if (records.some((record) => record.key === key)) return true
  return false
}
