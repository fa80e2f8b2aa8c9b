// The framings of streams that are texts: server-sent events, and JSON lines. Keeps FRAMING-1.

import { isUtf8 } from 'node:buffer'
import { type EventData, fault } from '../strict/strict.ts'
import { strictEvents } from '../strict/strict-events.ts'
import { strictObject } from '../strict/strict-json.ts'
import type { EventReader, Framing } from './framing.ts'
import { oneLine, printedEvents } from './printed-events.ts'

/** `isNamed`: each event has a line with its type. */
export function serverSentEvents({ isNamed }: { isNamed: boolean }): Framing {
  return {
    type: 'text/event-stream; charset=utf-8',
    read: strictEvents,
    print: (events) => printedEvents({ isNamed }, events),
  }
}

/** A JSON object in each line. */
export const jsonLines: Framing = {
  type: 'application/x-ndjson',
  read: lineReader,
  print: (events) => events.map((data) => `${oneLine(JSON.stringify(data))}\n`).join(''),
}

function lineReader(): EventReader {
  /** Of a line without its end. They join once, so a long line in small pieces costs no more. */
  let begun: Buffer[] = []
  return {
    take(piece) {
      const end = piece.lastIndexOf(lineEnd) + 1
      const lines = end === 0 ? [] : [...begun, piece.subarray(0, end)]
      if (end > 0) begun = []
      begun.push(piece.subarray(end))
      return objectsIn(Buffer.concat(lines))
    },
    end: () => objectsIn(Buffer.concat(begun)),
  }
}

const lineEnd = 0x0a

function objectsIn(lines: Buffer): EventData[] {
  if (!isUtf8(lines)) throw fault('it is not UTF-8')
  return lines
    .toString('utf8')
    .split('\n')
    .flatMap((line) => (line.trim() === '' ? [] : [strictObject(line)]))
}
