// Parts of JSON Schemas.

export const text = { type: 'string' }
/** Not empty. */
export const someText = { type: 'string', minLength: 1 }
export const number = { type: 'number' }
export const flag = { type: 'boolean' }

/** `required`: default: all properties. */
export function objectOf(properties: object, required = Object.keys(properties)) {
  return { type: 'object', required, properties }
}

export function listOf(items: object) {
  return { type: 'array', items }
}

export function mapOf(additionalProperties: object) {
  return { type: 'object', additionalProperties }
}

export function orNull<Schema extends { type: string }>(schema: Schema) {
  return { ...schema, type: [schema.type, 'null'] }
}
