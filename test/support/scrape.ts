/** The metrics of a service, as Prometheus scrapes them. */
export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

export async function scrape(url: string): Promise<string> {
  const answer = await fetch(url)
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${answer.status}: ${text}`)
  return text
}

/** The samples of the text format. */
export function samplesOf(text: string): Sample[] {
  return text.split('\n').flatMap(line => {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (!name) return []
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(
      ([, key = '', text = '']) => [key, text] as const,
    )
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }]
  })
}

/** The names of samples with their labels. */
export const seriesOf = (text: string): string[] =>
  samplesOf(text).map(({ name, labels }) => `${name}${JSON.stringify(labels)}`)

/** The value of the only sample with exactly these labels. Undefined if there is none. */
export const sampleOf = (
  text: string,
  name: string,
  labels: Record<string, string>,
): number | undefined =>
  samplesOf(text).find(
    sample =>
      sample.name === name &&
      Object.keys(sample.labels).length === Object.keys(labels).length &&
      Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  )?.value
