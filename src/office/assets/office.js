/**
 * What a browser with JavaScript does in addition: it shows what has changed, unless somebody is
 * typing, and asks before what cannot be undone. Every page works without it.
 */

const showPrint = () => {
  for (const button of document.querySelectorAll('[data-print]')) button.hidden = false;
};
const main = document.querySelector('main[data-live]');
if (main !== null && 'EventSource' in window) {
  let is_stale = false;
  const is_changed = (field) => {
    if (field.type === 'checkbox' || field.type === 'radio')
      return field.checked !== field.defaultChecked;
    if (field.tagName !== 'SELECT') return field.value !== field.defaultValue;
    const usual = [...field.options].findIndex(({ defaultSelected }) => defaultSelected);
    return field.selectedIndex !== Math.max(usual, 0);
  };
  // A new page would take away what was typed, and the place of the keyboard.
  const is_busy = () =>
    main.contains(document.activeElement) ||
    [...main.querySelectorAll('input, textarea, select')].some(is_changed);
  const refresh = async () => {
    if (is_busy() || document.hidden) return;
    is_stale = false;
    const response = await fetch(location.href, { headers: { 'x-refresh': '1' } });
    if (response.redirected || !response.ok) return location.reload();
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const fresh = page.querySelector('main[data-live]');
    if (fresh === null || is_busy()) return;
    const open = [...main.querySelectorAll('details[open][id]')].map(({ id }) => id);
    const notices = main.querySelectorAll('.notice');
    main.replaceChildren(...notices, ...fresh.childNodes);
    showPrint();
    for (const id of open) document.getElementById(id)?.setAttribute('open', '');
  };
  let events = null;
  const listen = () => {
    events = new EventSource('/events');
    events.addEventListener('changed', () => {
      is_stale = true;
      refresh().catch(() => {});
    });
  };
  setInterval(() => {
    if (is_stale) refresh().catch(() => {});
  }, 5000);
  // A browser has few connections to one address: a tab that nobody sees holds none.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      events?.close();
      events = null;
    } else if (events === null) {
      is_stale = true;
      listen();
      refresh().catch(() => {});
    }
  });
  if (!document.hidden) listen();
}
document.addEventListener('submit', (event) => {
  const question = event.target.dataset?.confirm;
  if (question === undefined) return;
  if (!window.confirm(question)) return event.preventDefault();
  const sure = Object.assign(document.createElement('input'), { type: 'hidden', name: 'sure' });
  sure.value = 'yes';
  event.target.append(sure);
});
showPrint();
document.addEventListener('click', (event) => {
  if (event.target.closest?.('[data-print]') != null) window.print();
});
