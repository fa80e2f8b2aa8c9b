import { accessSync, constants, statSync } from 'node:fs'

/** Whether this user can run the file as a program. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
