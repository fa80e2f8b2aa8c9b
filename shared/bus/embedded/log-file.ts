// The file of the embedded bus in a data folder.

import { join } from 'node:path'

export function logFileIn(dataFolder: string): string {
  return join(dataFolder, 'weir.db')
}
