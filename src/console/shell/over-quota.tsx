import './over-quota.css'
import { LinkButton } from '../parts/button.tsx'
import { text } from './text.ts'

/** Says that nothing can be added, because limits have become smaller than what is stored. */
export const OverQuota = () => (
  <div className="over-quota" role="status">
    <p>{text('overQuota')}</p>
    <LinkButton href="/account">{text('overQuotaMore')}</LinkButton>
  </div>
)
