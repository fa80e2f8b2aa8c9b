// The files of the product with a function that ran since `begin`, by V8's own count. For a program that
// runs without Jest.

import { Session } from 'node:inspector/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(import.meta.dirname, '../..')
const folders = /^(apps|client|services|shared)\//

export async function countCalls(): Promise<{ end(): Promise<string[]> }> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await session.post('Profiler.takePreciseCoverage') // forgets the calls before
  return {
    async end() {
      const { result } = await session.post('Profiler.takePreciseCoverage')
      session.disconnect()
      return result
        .filter(({ url }) => url.startsWith('file:'))
        .map(({ url, functions }) => ({ file: relative(root, fileURLToPath(url)), functions }))
        .filter(({ file, functions }) => folders.test(file) && functions.some(isCalled))
        .map(({ file }) => file)
        .sort()
    },
  }
}

/** Not the code of the module itself, which begins at 0. */
function isCalled({ ranges: [range] }: { ranges: { startOffset: number; count: number }[] }) {
  return range !== undefined && range.startOffset > 0 && range.count > 0
}
