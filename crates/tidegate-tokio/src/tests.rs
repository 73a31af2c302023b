use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tidegate_core::governor::Ticket;
use tidegate_core::{Gate, Span, Time};

use crate::{Call, Clock, Driver, Effect, Event, TicketGate};

/// Releases a ticket after the wait it asks for; the newest takes over the others of its kind where told so.
#[derive(Debug, Default)]
struct Toy {
    held: Vec<(Time, Ticket)>,
    outputs: VecDeque<Out>,
    told: Arc<Mutex<Vec<String>>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Out {
    Go(Ticket),
    Over(Ticket),
    Joins(Ticket, Ticket),
    Size(usize),
}

#[derive(Clone, Debug)]
enum In {
    Ask(Ticket, Span),
    Replace(Ticket, Span),
    Again(Ticket, Span),
    End(Ticket),
    Done(Ticket),
    Cancel(Ticket),
    Lost(Ticket),
    Size,
    Tick,
}

impl Gate for Toy {
    type Input = In;
    type Output = Out;
    type Reason = ();

    fn tick() -> In {
        In::Tick
    }

    fn handle(&mut self, now: Time, input: In) {
        match input {
            In::Ask(ticket, wait) | In::Again(ticket, wait) => self.held.push((now + wait, ticket)),
            In::Replace(ticket, wait) => {
                for (_, older) in self.held.drain(..) {
                    self.outputs.push_back(Out::Joins(older, ticket));
                }
                self.held.push((now + wait, ticket));
            }
            In::End(ticket) => {
                self.held.retain(|(_, held)| *held != ticket);
                self.outputs.push_back(Out::Over(ticket));
            }
            In::Cancel(ticket) => {
                self.held.retain(|(_, held)| *held != ticket);
                self.note(&format!("cancel {}", ticket.0));
            }
            In::Done(ticket) => self.note(&format!("done {}", ticket.0)),
            In::Lost(ticket) => self.note(&format!("lost {}", ticket.0)),
            In::Size => self.outputs.push_back(Out::Size(self.held.len())),
            In::Tick => {}
        }
        let due: Vec<_> = self.held.iter().filter(|(at, _)| *at <= now).map(|(_, ticket)| *ticket).collect();
        self.held.retain(|(at, _)| *at > now);
        self.outputs.extend(due.into_iter().map(Out::Go));
    }

    fn poll_output(&mut self) -> Option<Out> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<(Time, ())> {
        self.held.iter().map(|(at, _)| (*at, ())).min()
    }

    fn check_invariants(&self) {}
}

impl Toy {
    fn note(&self, what: &str) {
        self.told.lock().unwrap().push(what.to_owned());
    }
}

impl TicketGate for Toy {
    fn concerns(output: &Out) -> Option<(Ticket, Effect)> {
        match output {
            Out::Go(ticket) => Some((*ticket, Effect::Released)),
            Out::Over(ticket) => Some((*ticket, Effect::Over)),
            Out::Joins(ticket, newer) => Some((*ticket, Effect::Joins(*newer))),
            Out::Size(_) => None,
        }
    }

    fn cancel(ticket: Ticket) -> In {
        In::Cancel(ticket)
    }

    fn lost(ticket: Ticket) -> In {
        In::Lost(ticket)
    }
}

type Toys = Arc<Driver<Toy, &'static str>>;
const LONG: Span = Span::from_secs(86_400);

fn driver() -> (Toys, Arc<Mutex<Vec<String>>>) {
    let toy = Toy::default();
    let told = Arc::clone(&toy.told);
    (Driver::new(toy, Clock::new(1.0), |_| {}), told)
}

fn ask(driver: &Toys, wait: Span) -> Call<Toy, &'static str> {
    driver.enter(|ticket| In::Ask(ticket, wait))
}

#[test]
fn a_decision_at_once_leaves_nothing_behind() {
    let (driver, told) = driver();
    let mut call = ask(&driver, Span::ZERO);
    assert_eq!(call.now(), Some(Event::Output(Out::Go(Ticket(1)))));
    assert_eq!(driver.waiting(), 0);
    call.finish(In::Done, || "answer");
    assert_eq!(*told.lock().unwrap(), ["done 1"]);
}

#[test]
fn a_held_one_that_is_dropped_is_cancelled_and_a_released_one_is_lost() {
    let (driver, told) = driver();
    drop(ask(&driver, LONG));
    let mut released = ask(&driver, Span::ZERO);
    released.now();
    drop(released);
    // Released, but never looked at.
    drop(ask(&driver, Span::ZERO));
    assert_eq!(*told.lock().unwrap(), ["cancel 1", "lost 2", "lost 3"]);
    assert_eq!((driver.waiting(), driver.deadline()), (0, None));
}

#[test]
fn leaving_cancels_unless_others_ride_along() {
    let (driver, told) = driver();
    let mut alone = ask(&driver, LONG);
    assert!(alone.leave());
    let mut older = ask(&driver, LONG);
    let mut newer = driver.enter(|ticket| In::Replace(ticket, LONG));
    assert_eq!(older.now(), Some(Event::Output(Out::Joins(Ticket(2), Ticket(3)))));
    assert!(newer.is_followed() && !newer.leave());
    assert_eq!(*told.lock().unwrap(), ["cancel 1"]);
    drop(older);
    drop(newer);
    assert_eq!(*told.lock().unwrap(), ["cancel 1", "cancel 3"]);
}

#[test]
fn the_gate_knows_when_the_caller_of_a_released_one_left() {
    let (driver, told) = driver();
    let mut released = ask(&driver, Span::ZERO);
    released.now();
    assert!(!released.leave(), "its end is still to come");
    released.finish(In::Done, || "answer");
    let _older = ask(&driver, LONG);
    let mut newer = driver.enter(|ticket| In::Replace(ticket, Span::ZERO));
    newer.now();
    assert!(!newer.leave());
    newer.finish(In::Done, || "answer");
    assert_eq!(*told.lock().unwrap(), ["cancel 1", "done 1", "done 3"]);
}

#[test]
fn who_was_superseded_gets_the_last_ones_answer() {
    let (driver, _) = driver();
    let mut first = ask(&driver, LONG);
    let mut second = driver.enter(|ticket| In::Replace(ticket, LONG));
    let mut third = driver.enter(|ticket| In::Replace(ticket, Span::ZERO));
    assert!(matches!(first.now(), Some(Event::Output(Out::Joins(..)))));
    assert!(matches!(second.now(), Some(Event::Output(Out::Joins(..)))));
    assert_eq!((first.now(), second.now()), (None, None));
    assert_eq!(third.now(), Some(Event::Output(Out::Go(Ticket(3)))));
    third.finish(In::Done, || "answer");
    assert_eq!((first.now(), second.now()), (Some(Event::Answer("answer")), Some(Event::Answer("answer"))));
    assert_eq!(driver.waiting(), 0);
}

#[test]
fn an_answer_that_comes_before_anyone_looked_is_not_lost() {
    let (driver, _) = driver();
    let mut older = ask(&driver, LONG);
    let newer = driver.enter(|ticket| In::Replace(ticket, LONG));
    newer.close(|| "refused");
    assert!(matches!(older.now(), Some(Event::Output(Out::Joins(..)))));
    assert_eq!(older.now(), Some(Event::Answer("refused")));
}

#[test]
fn a_released_one_may_wait_again() {
    let (driver, told) = driver();
    let mut call = ask(&driver, Span::ZERO);
    call.now();
    call.again(In::Again(call.ticket(), Span::ZERO));
    assert_eq!(call.now(), Some(Event::Output(Out::Go(Ticket(1)))));
    call.again(In::Again(call.ticket(), LONG));
    assert_eq!((call.now(), driver.waiting()), (None, 1));
    driver.tell(In::End(call.ticket()));
    assert_eq!(call.now(), Some(Event::Output(Out::Over(Ticket(1)))));
    drop(call);
    assert!(told.lock().unwrap().is_empty());
}

#[test]
fn questions_are_answered_to_who_asks() {
    let (driver, _) = driver();
    let _held = ask(&driver, LONG);
    assert_eq!(driver.ask(In::Size), [Out::Size(1)]);
}

#[tokio::test]
async fn the_timer_wakes_who_waits_and_sleeps_for_the_earliest() {
    let (driver, _) = driver();
    driver.spawn_timer();
    let mut late = ask(&driver, LONG);
    tokio::task::yield_now().await;
    let mut early = ask(&driver, Span::from_millis(5));
    assert_eq!(early.next().await, Event::Output(Out::Go(Ticket(2))));
    assert_eq!(late.now(), None);
}

#[test]
fn callers_on_many_runtimes_are_all_woken() {
    let (driver, _) = driver();
    let keeper = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    keeper.block_on(async { driver.spawn_timer() });
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let driver = Arc::clone(&driver);
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    for turn in 0..50 {
                        let mut call = ask(&driver, Span::from_micros((thread * 7 + turn) % 5 * 500));
                        assert!(matches!(call.next().await, Event::Output(Out::Go(_))));
                        call.finish(In::Done, || "");
                    }
                });
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!((driver.waiting(), driver.deadline()), (0, None));
}

#[tokio::test]
async fn no_progress_hangs_on_a_waiter_that_is_not_polled() {
    let (driver, _) = driver();
    driver.spawn_timer();
    let _never_polled = ask(&driver, Span::from_millis(1));
    let mut polled = ask(&driver, Span::from_millis(2));
    assert!(matches!(polled.next().await, Event::Output(Out::Go(_))));
}

#[tokio::test]
async fn the_timer_ends_with_its_driver() {
    let (driver, _) = driver();
    driver.spawn_timer();
    let weak = Arc::downgrade(&driver);
    tokio::task::yield_now().await;
    drop(driver);
    assert!(weak.upgrade().is_none());
}

#[test]
fn platform_time_is_scaled_both_ways() {
    let clock = Clock::new(0.1);
    assert_eq!(clock.real(Span::from_secs(60)), Duration::from_secs(6));
    let (before, started) = (clock.now(), std::time::Instant::now());
    std::thread::sleep(Duration::from_millis(5));
    let real_at_most = started.elapsed();
    let platform = clock.now().since(before);
    assert!(platform >= Span::from_millis(50), "{platform:?}");
    assert!(Duration::from(platform) >= real_at_most, "{platform:?}");
}
