//! A persistent map from numbers to values, which counts its work: the tree-map of functional languages, balanced by weight.

use std::rc::Rc;

/// What maps have cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapWork {
    /// Insertions, deletions and unions.
    pub operations: u64,
    /// The nodes that they have looked at.
    pub visits: u64,
}

/// The map. Copies share their nodes.
#[derive(Debug)]
pub(crate) struct Map<V>(Option<Rc<Node<V>>>);

#[derive(Debug)]
struct Node<V> {
    left: Map<V>,
    key: u64,
    value: V,
    right: Map<V>,
    size: usize,
}

/// A subtree may have at most this many times the weight of its sibling.
const HEAVIER: usize = 3;

/// A rotation is single if the inner subtree has less than this many times the weight of the outer one.
const INNER: usize = 2;

impl<V> Clone for Map<V> {
    fn clone(&self) -> Map<V> {
        Map(self.0.clone())
    }
}

impl<V> Default for Map<V> {
    fn default() -> Map<V> {
        Map(None)
    }
}

impl<V: Clone> Map<V> {
    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |node| node.size)
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: u64) -> Option<&V> {
        let mut at = self;
        while let Some(node) = &at.0 {
            at = match key.cmp(&node.key) {
                std::cmp::Ordering::Less => &node.left,
                std::cmp::Ordering::Equal => return Some(&node.value),
                std::cmp::Ordering::Greater => &node.right,
            };
        }
        None
    }

    /// The entries in ascending order of the keys.
    pub(crate) fn entries(&self) -> Vec<(u64, V)> {
        fn collect<V: Clone>(map: &Map<V>, out: &mut Vec<(u64, V)>) {
            if let Some(node) = &map.0 {
                collect(&node.left, out);
                out.push((node.key, node.value.clone()));
                collect(&node.right, out);
            }
        }
        let mut out = Vec::with_capacity(self.len());
        collect(self, &mut out);
        out
    }

    /// The map with one more entry. If the key is there, its value becomes that of `both`, which gets the old and the new one.
    pub(crate) fn inserted(&self, key: u64, value: V, both: &impl Fn(&V, &V) -> V, work: &mut MapWork) -> Map<V> {
        work.operations += 1;
        self.insert(key, value, both, work)
    }

    /// The entry with the highest key, and the map without it.
    pub(crate) fn without_last(&self, work: &mut MapWork) -> Option<(u64, V, Map<V>)> {
        work.operations += 1;
        self.remove_last(work)
    }

    /// The union. If a key is in both maps, its value becomes that of `both`.
    pub(crate) fn union(&self, other: &Map<V>, both: &impl Fn(&V, &V) -> V, work: &mut MapWork) -> Map<V> {
        work.operations += 1;
        self.merge(other, both, work)
    }

    fn insert(&self, key: u64, value: V, both: &impl Fn(&V, &V) -> V, work: &mut MapWork) -> Map<V> {
        let Some(node) = &self.0 else { return Map::node(&Map(None), key, value, &Map(None)) };
        work.visits += 1;
        match key.cmp(&node.key) {
            std::cmp::Ordering::Less => {
                let left = node.left.insert(key, value, both, work);
                Map::balanced(&left, node.key, node.value.clone(), &node.right)
            }
            std::cmp::Ordering::Equal => Map::node(&node.left, key, both(&node.value, &value), &node.right),
            std::cmp::Ordering::Greater => {
                let right = node.right.insert(key, value, both, work);
                Map::balanced(&node.left, node.key, node.value.clone(), &right)
            }
        }
    }

    fn remove_last(&self, work: &mut MapWork) -> Option<(u64, V, Map<V>)> {
        let node = self.0.as_ref()?;
        work.visits += 1;
        match node.right.remove_last(work) {
            None => Some((node.key, node.value.clone(), node.left.clone())),
            Some((key, value, right)) => {
                Some((key, value, Map::balanced(&node.left, node.key, node.value.clone(), &right)))
            }
        }
    }

    fn merge(&self, other: &Map<V>, both: &impl Fn(&V, &V) -> V, work: &mut MapWork) -> Map<V> {
        let (Some(node), Some(with)) = (&self.0, &other.0) else {
            return if self.0.is_none() { other.clone() } else { self.clone() };
        };
        work.visits += 1;
        if with.size == 1 {
            return self.insert(with.key, with.value.clone(), both, work);
        }
        if node.size == 1 {
            return other.insert(node.key, node.value.clone(), &|old, new| both(new, old), work);
        }
        let (less, same, greater) = other.split(node.key, work);
        let left = node.left.merge(&less, both, work);
        let right = node.right.merge(&greater, both, work);
        let value = same.map_or_else(|| node.value.clone(), |same| both(&node.value, &same));
        left.joined(node.key, value, &right, work)
    }

    /// The entries below a key, its own value, and the entries above it.
    fn split(&self, key: u64, work: &mut MapWork) -> (Map<V>, Option<V>, Map<V>) {
        let Some(node) = &self.0 else { return (Map(None), None, Map(None)) };
        work.visits += 1;
        match key.cmp(&node.key) {
            std::cmp::Ordering::Less => {
                let (less, same, greater) = node.left.split(key, work);
                (less, same, greater.joined(node.key, node.value.clone(), &node.right, work))
            }
            std::cmp::Ordering::Equal => (node.left.clone(), Some(node.value.clone()), node.right.clone()),
            std::cmp::Ordering::Greater => {
                let (less, same, greater) = node.right.split(key, work);
                (node.left.joined(node.key, node.value.clone(), &less, work), same, greater)
            }
        }
    }

    /// Joins two maps of any sizes with an entry between them.
    fn joined(&self, key: u64, value: V, right: &Map<V>, work: &mut MapWork) -> Map<V> {
        match (&self.0, &right.0) {
            (Some(l), _) if self.weight() > HEAVIER * right.weight() => {
                work.visits += 1;
                let inner = l.right.joined(key, value, right, work);
                Map::balanced(&l.left, l.key, l.value.clone(), &inner)
            }
            (_, Some(r)) if right.weight() > HEAVIER * self.weight() => {
                work.visits += 1;
                let inner = self.joined(key, value, &r.left, work);
                Map::balanced(&inner, r.key, r.value.clone(), &r.right)
            }
            _ => Map::node(self, key, value, right),
        }
    }

    fn weight(&self) -> usize {
        self.len() + 1
    }

    fn node(left: &Map<V>, key: u64, value: V, right: &Map<V>) -> Map<V> {
        let size = left.len() + right.len() + 1;
        Map(Some(Rc::new(Node { left: left.clone(), key, value, right: right.clone(), size })))
    }

    /// A node whose subtrees may be out of balance by one entry.
    fn balanced(left: &Map<V>, key: u64, value: V, right: &Map<V>) -> Map<V> {
        if let Some(r) = right.0.as_ref().filter(|_| right.weight() > HEAVIER * left.weight()) {
            if let Some(m) = r.left.0.as_ref().filter(|_| r.left.weight() >= INNER * r.right.weight()) {
                let (below, above) =
                    (Map::node(left, key, value, &m.left), Map::node(&m.right, r.key, r.value.clone(), &r.right));
                return Map::node(&below, m.key, m.value.clone(), &above);
            }
            return Map::node(&Map::node(left, key, value, &r.left), r.key, r.value.clone(), &r.right);
        }
        if let Some(l) = left.0.as_ref().filter(|_| left.weight() > HEAVIER * right.weight()) {
            if let Some(m) = l.right.0.as_ref().filter(|_| l.right.weight() >= INNER * l.left.weight()) {
                let (below, above) =
                    (Map::node(&l.left, l.key, l.value.clone(), &m.left), Map::node(&m.right, key, value, right));
                return Map::node(&below, m.key, m.value.clone(), &above);
            }
            return Map::node(&l.left, l.key, l.value.clone(), &Map::node(&l.right, key, value, right));
        }
        Map::node(left, key, value, right)
    }
}
