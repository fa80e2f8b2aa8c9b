// Reads the JSON file of a setting that a person wrote. Throws `usage` with the fault.

import { WeirError } from '../lib/errors.ts'
import { readText } from './text-file.ts'

/** `subject`: names the file in an error. Default: the file. */
export function readJson(file: string, bytesMax: number, subject = file): unknown {
  const read = readText(file, bytesMax)
  if ('fault' in read) throw new WeirError('usage', `${subject} ${read.fault}`)
  return jsonOf(subject, read.text)
}

export function jsonOf(subject: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw notJson(subject, error)
  }
}

function notJson(subject: string, cause: unknown): WeirError {
  const fault = cause instanceof Error ? cause.message : String(cause)
  return new WeirError('usage', `${subject} is not JSON: ${fault}`, { cause })
}
