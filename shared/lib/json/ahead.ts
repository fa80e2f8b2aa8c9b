// Validators of schemas that never change. In a checkout Ajv compiles one at its first use, in a tenth of a
// second. The package has their code in place of a module that exports them (bin/bundle.ts).

import type { Ajv, CodeOptions, ValidateFunction } from 'ajv'

/** `create` returns the Ajv that knows the schema by this id. */
export type Ahead = { (): ValidateFunction; create: (code: CodeOptions) => [ajv: Ajv, id: string] }

export function ahead(create: Ahead['create']): Ahead {
  let validate: ValidateFunction | undefined
  const compile = () => {
    const [ajv, id] = create({})
    return ajv.getSchema(id) as ValidateFunction
  }
  return Object.assign(() => (validate ??= compile()), { create })
}
