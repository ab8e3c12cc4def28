import * as start from '../../../migrations/0001-start.ts';
import * as webhooks from '../../../migrations/0002-webhooks.ts';
import * as patients from '../../../migrations/0003-patients.ts';
import * as claims from '../../../migrations/0004-claims.ts';
import * as journal from '../../../migrations/0007-journal.ts';
import * as purge from '../../../migrations/0008-purge.ts';
import * as givenNames from '../../../migrations/0009-given-names.ts';
import * as absentCalls from '../../../migrations/0010-absent-calls.ts';
import * as serviceClock from '../../../migrations/0011-service-clock.ts';
import * as incidents from '../../../migrations/0012-incidents.ts';
import * as patientIdentity from '../../../migrations/0013-patient-identity.ts';
import * as arrivals from '../../../migrations/0014-arrivals.ts';
import * as missedExports from '../../../migrations/0015-missed-exports.ts';
import * as announcedEnds from '../../../migrations/0016-announced-ends.ts';
import * as messageTimes from '../../../migrations/0017-message-times.ts';
import * as outcome from '../../../migrations/0018-outcome.ts';
import * as scrape from '../../../migrations/0019-scrape.ts';
import * as turnarounds from '../../../migrations/0020-turnarounds.ts';
import * as prices from '../../../migrations/0021-prices.ts';
import * as office from '../../../migrations/0022-office.ts';
import * as alerts from '../../../migrations/0023-alerts.ts';
import * as entered from '../../../migrations/0024-entered.ts';
import * as lookups from '../../../migrations/0025-lookups.ts';
import * as completedSources from '../../../migrations/0026-completed-sources.ts';
import * as planTerms from '../../../migrations/0027-plan-terms.ts';
import * as calls from '../../../migrations/0028-calls.ts';
import * as accessLog from '../../../migrations/0029-access-log.ts';
import * as attentionWords from '../../../migrations/0030-attention-words.ts';
import * as retention from '../../../migrations/0031-retention.ts';
import * as attentionInquiry from '../../../migrations/0032-attention-inquiry.ts';
import * as openAppointments from '../../../migrations/0033-open-appointments.ts';
import * as names from '../../../migrations/0034-names.ts';
import * as dueBySpecialty from '../../../migrations/0035-due-by-specialty.ts';
import * as closedAppointments from '../../../migrations/0036-closed-appointments.ts';
import * as doubtfulCalls from '../../../migrations/0037-doubtful-calls.ts';
import * as unreadMessages from '../../../migrations/0038-unread-messages.ts';
import * as contentHash from '../../../migrations/0039-content-hash.ts';
import * as wholeUnreadMessages from '../../../migrations/0040-whole-unread-messages.ts';
import * as currentCall from '../../../migrations/0041-current-call.ts';
import * as replyOfCall from '../../../migrations/0042-reply-of-call.ts';
import * as mergedVisits from '../../../migrations/0043-merged-visits.ts';
import * as orderedCalls from '../../../migrations/0044-ordered-calls.ts';
import * as requestRows from '../../../migrations/0045-request-rows.ts';
import * as changedVisits from '../../../migrations/0046-changed-visits.ts';
import * as holds from '../../../migrations/0047-holds.ts';

/**
 * Every migration by name, in order. Forward only: a database is never migrated back. The numbers
 * 0005 and 0006 were never used and must stay unused: databases in the field have later ones, and
 * Kysely rejects a migration that precedes an applied one.
 */
export const MIGRATIONS = {
  '0001-start': start,
  '0002-webhooks': webhooks,
  '0003-patients': patients,
  '0004-claims': claims,
  '0007-journal': journal,
  '0008-purge': purge,
  '0009-given-names': givenNames,
  '0010-absent-calls': absentCalls,
  '0011-service-clock': serviceClock,
  '0012-incidents': incidents,
  '0013-patient-identity': patientIdentity,
  '0014-arrivals': arrivals,
  '0015-missed-exports': missedExports,
  '0016-announced-ends': announcedEnds,
  '0017-message-times': messageTimes,
  '0018-outcome': outcome,
  '0019-scrape': scrape,
  '0020-turnarounds': turnarounds,
  '0021-prices': prices,
  '0022-office': office,
  '0023-alerts': alerts,
  '0024-entered': entered,
  '0025-lookups': lookups,
  '0026-completed-sources': completedSources,
  '0027-plan-terms': planTerms,
  '0028-calls': calls,
  '0029-access-log': accessLog,
  '0030-attention-words': attentionWords,
  '0031-retention': retention,
  '0032-attention-inquiry': attentionInquiry,
  '0033-open-appointments': openAppointments,
  '0034-names': names,
  '0035-due-by-specialty': dueBySpecialty,
  '0036-closed-appointments': closedAppointments,
  '0037-doubtful-calls': doubtfulCalls,
  '0038-unread-messages': unreadMessages,
  '0039-content-hash': contentHash,
  '0040-whole-unread-messages': wholeUnreadMessages,
  '0041-current-call': currentCall,
  '0042-reply-of-call': replyOfCall,
  '0043-merged-visits': mergedVisits,
  '0044-ordered-calls': orderedCalls,
  '0045-request-rows': requestRows,
  '0046-changed-visits': changedVisits,
  '0047-holds': holds,
};
