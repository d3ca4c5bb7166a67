import { useState } from 'react'
import { graphql } from '../graphql/graphql.ts'
import { mutate } from '../graphql/run.ts'
import { formatExact } from '../i18n/format.ts'
import { Button } from '../parts/button.tsx'
import { Figures } from '../parts/figures.tsx'
import { FormDialog, TextArea, TextField } from '../parts/form.tsx'
import { MAX_MAINTENANCE_MESSAGE } from '../parts/limits.ts'
import { Section } from '../parts/screen.tsx'
import { toast, toastError } from '../parts/toasts.tsx'
import { type Maintenance, useMaintenance } from './current.ts'
import { text } from './text.ts'

const START = graphql(`
  mutation StartMaintenance($input: OperatorStartMaintenanceInput!) {
    operatorStartMaintenance(input: $input) {
      maintenance {
        endsAt
      }
    }
  }
`)

const END = graphql(`
  mutation EndMaintenance {
    operatorEndMaintenance {
      ended
    }
  }
`)

/** A time as a datetime-local field expects it: local, without seconds. */
function localTime(at: number): string {
  const offset = new Date(at).getTimezoneOffset() * 60_000
  return new Date(at - offset).toISOString().slice(0, 16)
}

const HOUR_MS = 3_600_000

/** Shows and sets the maintenance mode. */
export function MaintenanceSection() {
  const [maintenance, look] = useMaintenance()
  const [isOpen, setOpen] = useState(false)
  const end = async () => {
    await mutate(END, {})
    toast({ message: text('ended') })
    look()
  }
  return (
    <Section
      title={text('title')}
      hint={text('about')}
      actions={
        <>
          {maintenance && (
            <Button onPress={() => void end().catch(toastError)}>{text('end')}</Button>
          )}
          <Button onPress={() => setOpen(true)}>{text(maintenance ? 'change' : 'start')}</Button>
        </>
      }
    >
      {maintenance ? (
        <Figures
          of={[
            [text('since'), formatExact(maintenance.startedAt)],
            [text('until'), formatExact(maintenance.endsAt)],
            ...(maintenance.message ? [[text('message'), maintenance.message] as const] : []),
          ]}
        />
      ) : (
        <p>{text('none')}</p>
      )}
      {isOpen && (
        <MaintenanceForm
          maintenance={maintenance ?? null}
          onDone={look}
          onClose={() => setOpen(false)}
        />
      )}
    </Section>
  )
}

interface MaintenanceFormProps {
  maintenance: Maintenance | null
  onDone: () => void
  onClose: () => void
}

function MaintenanceForm({ maintenance, onDone, onClose }: MaintenanceFormProps) {
  const submit = async (form: FormData) => {
    const at = Date.parse(String(form.get('until')))
    if (!(at > Date.now())) throw new Error(text('badTime'))
    const input = { until: new Date(at).toISOString(), message: String(form.get('message') ?? '') }
    await mutate(START, { input })
    toast({ message: text('started') })
    onDone()
  }
  return (
    <FormDialog
      title={text(maintenance ? 'title' : 'start')}
      label={text(maintenance ? 'change' : 'start')}
      isDangerous={!maintenance}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextField
        label={text('until')}
        hint={text('untilHint')}
        name="until"
        type="datetime-local"
        required
        min={localTime(Date.now())}
        defaultValue={localTime(
          maintenance ? Date.parse(maintenance.endsAt) : Date.now() + HOUR_MS,
        )}
        autoFocus
      />
      <TextArea
        label={text('message')}
        hint={text('messageHint')}
        name="message"
        maxLength={MAX_MAINTENANCE_MESSAGE}
        defaultValue={maintenance?.message}
      />
    </FormDialog>
  )
}
