// The standard output of a command in a test.

import { PassThrough } from 'node:stream'

export function output(): { stream: NodeJS.WriteStream; text: () => string } {
  const stream = new PassThrough()
  let text = ''
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  return { stream: stream as unknown as NodeJS.WriteStream, text: () => text }
}

/** The output of the command. */
export async function printed(
  command: (out: NodeJS.WriteStream) => Promise<unknown>,
): Promise<string> {
  const { stream, text } = output()
  await command(stream)
  return text()
}
