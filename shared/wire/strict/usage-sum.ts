// The usage of several attempts as one: each number is the sum, other values are the newest.

import { isObject } from '../../lib/json/json-object.ts'
import type { Json } from '../format.ts'

export function usageSum(a: Json | undefined, b: Json | undefined): Json | undefined {
  if (a === undefined || b === undefined) return a ?? b
  const sum: Json = { ...a }
  for (const [name, value] of Object.entries(b)) {
    const other = sum[name]
    if (typeof value === 'number') sum[name] = value + (typeof other === 'number' ? other : 0)
    else if (isObject(value)) sum[name] = usageSum(isObject(other) ? other : undefined, value)
    else if (value !== null || other === undefined) sum[name] = value
  }
  return sum
}

export function usageIn(value: unknown): Json | undefined {
  return isObject(value) ? value : undefined
}
