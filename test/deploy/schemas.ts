// JSON schemas for kubeconform: of Kubernetes' own kinds from its OpenAPI file, of other kinds from
// their CRDs. Both are strict: an unknown field is an error, as with a server-side dry run.

export type Schema = { [key: string]: unknown }

type GroupVersionKind = { group: string; version: string; kind: string }

export type Swagger = { definitions: Record<string, Schema> }

export type CustomResourceDefinition = {
  spec: {
    group: string
    names: { kind: string }
    versions: { name: string; schema: { openAPIV3Schema: Schema } }[]
  }
}

/**
 * As in kubeconform's template `{{.Group}}_{{.ResourceKind}}_{{.ResourceAPIVersion}}.json`. It takes
 * the version for the group of the core kinds, which have none.
 */
export function schemaFile({ group, version, kind }: GroupVersionKind): string {
  return `${group || version}_${kind.toLowerCase()}_${version}.json`
}

/** The types that the OpenAPI file describes as one kind of value, and that accept two. */
const loose: Record<string, Schema> = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { type: ['integer', 'string'] },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { type: ['number', 'string'] },
}

/** The schemas of these kinds, each with all definitions that it needs. Throws for an unknown kind. */
export function schemasOfSwagger({ definitions }: Swagger, kinds: GroupVersionKind[]) {
  return kinds.map((wanted) => {
    const found = Object.entries(definitions).find(([, one]) =>
      (one['x-kubernetes-group-version-kind'] as GroupVersionKind[] | undefined)?.some(
        ({ group, version, kind }) =>
          group === wanted.group && version === wanted.version && kind === wanted.kind,
      ),
    )
    if (found === undefined) throw new Error(`Kubernetes has no ${JSON.stringify(wanted)}`)
    const needed: Record<string, Schema> = {}
    collect(found[0])
    return {
      file: schemaFile(wanted),
      schema: { $ref: `#/definitions/${found[0]}`, definitions: needed },
    }

    function collect(name: string): void {
      if (name in needed) return
      const schema = loose[name] ?? strict(definitions[name] ?? {})
      needed[name] = schema
      for (const [, next] of JSON.stringify(schema).matchAll(/"#\/definitions\/([^"]+)"/g))
        collect(next as string)
    }
  })
}

/** One schema for each version. */
export function schemasOfCrd({ spec: { group, names, versions } }: CustomResourceDefinition) {
  return versions.map(({ name, schema: { openAPIV3Schema } }) => ({
    file: schemaFile({ group, version: name, kind: names.kind }),
    schema: strict(openAPIV3Schema),
  }))
}

/** Forbids unknown fields, except where the schema keeps them or has none. */
function strict(schema: Schema): Schema {
  const inner = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, strictValue(value)]),
  )
  if (schema['x-kubernetes-int-or-string'] === true) return { type: ['integer', 'string'] }
  const isClosed =
    'properties' in schema &&
    !('additionalProperties' in schema) &&
    schema['x-kubernetes-preserve-unknown-fields'] !== true
  return { ...inner, ...(isClosed && { additionalProperties: false }) }
}

function strictValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strictValue)
  return typeof value === 'object' && value !== null ? strict(value as Schema) : value
}
