/**
 * What a browser with JavaScript does in addition: it shows what has changed, unless somebody is
 * typing, and asks before what cannot be undone. Every page works without it.
 */

const showPrint = () => {
  for (const button of document.querySelectorAll('[data-print]')) button.hidden = false;
};
const main = document.querySelector('main[data-live]');
if (main !== null && 'EventSource' in window) {
  // The newest state that the server has told of; the page shows that of its own mark.
  let newest = main.dataset.live;
  let is_asking = false;
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
  let is_over = false;
  // Patient data does not stay on a screen that nobody is logged in at; what was typed does.
  const end = () => {
    if (!is_busy()) return location.reload();
    if (is_over) return;
    is_over = true;
    const told = Object.assign(document.createElement('div'), { className: 'notice bad' });
    told.setAttribute('role', 'alert');
    told.textContent =
      'Your login has ended, and this page is no longer kept up to date. What you have typed is ' +
      'kept when you send it. ';
    const link = { href: '/login', target: '_blank', textContent: 'Log in in another tab' };
    told.append(Object.assign(document.createElement('a'), link));
    main.prepend(told);
  };
  const show = async () => {
    const response = await fetch(location.href, { headers: { 'x-refresh': '1' } });
    if (response.redirected) return end();
    if (is_busy() || !response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const fresh = page.querySelector('main[data-live]');
    if (fresh === null || is_busy()) return;
    const open = [...main.querySelectorAll('details[open][id]')].map(({ id }) => id);
    // What was done with the last form; the server says it once.
    const notices = main.querySelectorAll(':scope > .notice');
    main.replaceChildren(...notices, ...fresh.childNodes);
    main.dataset.live = fresh.dataset.live;
    showPrint();
    for (const id of open) document.getElementById(id)?.setAttribute('open', '');
  };
  const refresh = async () => {
    if (is_over) return end();
    if (is_asking || newest === main.dataset.live || document.hidden || is_busy()) return;
    is_asking = true;
    await show().catch(() => {});
    is_asking = false;
  };
  let events = null;
  // Whoever is logged in is led away from the login.
  const check = async () => {
    const login = { headers: { 'x-refresh': '1' }, redirect: 'manual' };
    if ((await fetch('/login', login)).ok) end();
  };
  const listen = () => {
    events = new EventSource('/events');
    // A browser connects again after a break, but not after an answer that is no stream.
    events.addEventListener('error', () => {
      if (events?.readyState !== EventSource.CLOSED) return;
      events = null;
      check().catch(() => {});
      setTimeout(() => events === null && !document.hidden && !is_over && listen(), 10_000);
    });
    // The first one comes with each connection, also after one that was lost.
    events.addEventListener('changed', ({ data }) => {
      newest = data;
      refresh();
    });
  };
  // What came while somebody was typing, or while a page was on its way.
  setInterval(refresh, 5000);
  // A browser has few connections to one address: a tab that nobody sees holds none.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      events?.close();
      events = null;
    } else if (events === null) listen();
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
