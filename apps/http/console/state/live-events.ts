// The events of the console's streams. A viewer that reads slowly gets the newest state later, and
// never a queue of old ones.

import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '../../../../shared/contract/limits.ts'
import type { ServerSentEvent } from '../../edge/sse.ts'
import type { ConsoleReader } from './console-reader.ts'

/** The whole state, and then each newer one, until `signal` aborts. */
export async function* stateEvents(
  reader: ConsoleReader,
  signal: AbortSignal,
): AsyncGenerator<ServerSentEvent> {
  reader.viewers.count += 1
  let sent = ''
  try {
    while (!signal.aborted) {
      const { inbox, ...now } = await reader.state()
      yield { event: 'now', data: JSON.stringify(now) }
      const data = JSON.stringify(inbox)
      if (data !== sent) yield { event: 'inbox', data }
      sent = data
      await reader.changed(now.version, signal)
      await paused(signal)
    }
  } finally {
    reader.viewers.count -= 1
  }
}

/** One event at once, and one for new records of the conversation, until `signal` aborts. */
export async function* conversationEvents(
  reader: ConsoleReader,
  conversation: string,
  signal: AbortSignal,
): AsyncGenerator<ServerSentEvent> {
  let isTouched = true
  const unwatch = reader.watch(conversation, () => {
    isTouched = true
  })
  reader.viewers.count += 1
  try {
    while (!signal.aborted) {
      const { version } = reader
      if (isTouched) {
        isTouched = false
        yield { event: 'changed', data: '{}' }
      }
      await reader.changed(version, signal)
      await paused(signal)
    }
  } finally {
    reader.viewers.count -= 1
    unwatch()
  }
}

async function paused(signal: AbortSignal): Promise<void> {
  await pause(limits.consolePauseMs, undefined, { signal }).catch(() => {})
}
