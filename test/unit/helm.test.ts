import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'

const GOPATH = '/usr/share/gocode'
const canRender =
  spawnSync('go', ['version']).status === 0 &&
  existsSync(`${GOPATH}/src/github.com/Masterminds/sprig`)
const schema = JSON.parse(readFileSync('docker/helm/values.schema.json', 'utf8'))

// biome-ignore lint/suspicious/noExplicitAny: objects of every kind
type Rendered = { values: any; objects: any[] }

/**
 * Renders the chart with the template functions of Helm, but without Helm (test/helm/render.go).
 */
function render(values: object) {
  const { status, stdout, stderr } = spawnSync(
    'go',
    ['run', 'test/helm/render.go', 'docker/helm'],
    {
      input: JSON.stringify(values),
      env: { ...process.env, GOPATH, GO111MODULE: 'off' },
      encoding: 'utf8',
    },
  )
  return { status, stderr, chart: (status === 0 ? JSON.parse(stdout) : {}) as Rendered }
}
// Debian packages: golang-go, golang-github-masterminds-sprig-dev
;(canRender ? describe : describe.skip)('docker/helm', () => {
  it('requires persistent storage for files', () => {
    expect(render({})).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('set storage.existingClaim'),
    })
    expect(render({ storage: { external: true } }).status).toBe(0)
    expect(render({ settings: { S3_BUCKET: 'files' } }).status).toBe(0)
    const { values, objects } = render({ storage: { existingClaim: 'files' } }).chart
    expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(Object.keys(values)))
    expect(objects.map(({ kind }) => kind).sort()).toEqual([
      'Deployment',
      'Ingress',
      'PodDisruptionBudget',
      'Service',
    ])
  })

  it('renders the values of an operator', () => {
    const { objects } = render({
      storage: { existingClaim: 'files' },
      labels: { team: 'storage' },
      annotations: { owner: 'ann' },
      podAnnotations: { restarted: 'today' },
      serviceAccount: { create: true, annotations: { role: 'files' } },
      nodeSelector: { disk: 'fast' },
      tolerations: [{ key: 'files', operator: 'Exists' }],
      extraVolumes: [{ name: 'ca', configMap: { name: 'ca' } }],
      extraVolumeMounts: [{ name: 'ca', mountPath: '/ca' }],
      metrics: { enabled: true, serviceMonitor: { enabled: true, labels: { release: 'prom' } } },
    }).chart
    for (const { metadata } of objects) expect(metadata.labels.team).toBe('storage')
    const of = (kind: string) => objects.find(one => one.kind === kind)
    const { template } = of('Deployment').spec
    expect(of('Deployment').metadata.annotations).toEqual({ owner: 'ann' })
    expect(template.metadata.annotations).toEqual({ restarted: 'today' })
    expect(template.spec).toMatchObject({
      serviceAccountName: 'files',
      nodeSelector: { disk: 'fast' },
      tolerations: [{ key: 'files' }],
      topologySpreadConstraints: [
        { topologyKey: 'kubernetes.io/hostname' },
        { topologyKey: 'topology.kubernetes.io/zone' },
      ],
    })
    expect(template.spec.volumes).toContainEqual({ name: 'ca', configMap: { name: 'ca' } })
    const [container] = template.spec.containers
    expect(container.ports).toContainEqual({ name: 'metrics', containerPort: 9464 })
    expect(container.volumeMounts).toContainEqual({ name: 'ca', mountPath: '/ca' })
    expect(of('ServiceAccount').metadata.annotations).toEqual({ role: 'files' })
    expect(of('ServiceMonitor').metadata.labels.release).toBe('prom')
  })
})
